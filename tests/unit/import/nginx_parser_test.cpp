#include "fixture.hpp"

#include <string>

using namespace stint::import_nginx;
using stint::import_nginx::test::files;

namespace {

// The directives as text: "a b; c{d;}".
std::string written(const std::vector<Directive>& directives) {
    std::string text;
    for (const Directive& one : directives) {
        text += '<' + one.name + '>';
        for (const std::string& argument : one.args)
            text += '<' + argument + '>';
        text += one.has_block ? '{' + written(one.block) + '}' : std::string{";"};
    }
    return text;
}

std::string parsed(const std::string& text, const Sources& sources = files({})) {
    const auto made = parse(text, "nginx.conf", sources);
    return made ? written(made->directives) : made.error().text();
}

} // namespace

TEST_CASE("nginx's syntax: words, quotes, escapes, comments, blocks") {
    struct Case {
        std::string text, expected;
    };
    for (const Case& one : std::vector<Case>{
             {"", ""},
             {"\xEF\xBB\xBF# a comment\n  user  www-data ;", "<user><www-data>;"},
             {"a \"b c\" 'd \"e';", "<a><b c><d \"e>;"},
             {R"(a "b\"c\\d\n\.e" \.f$;)", "<a><b\"c\\d\n\\.e><\\.f$>;"},
             {"a b#c; # d;\n#e;\nf;", "<a><b#c>;<f>;"},
             {"a ${b}c{d;}", "<a><${b}c>{<d>;}"},
             {"a b\\ c;", "<a><b\\ c>;"},
             {"if ($a = \"x\") { b; }", "<if><($a><=><x><)>{<b>;}"},
             {"location ~ ^/a{2}$ { b; } }", "<location><~><^/a>{<2}$>{<b>;}}"},
             {"location ~ \"^/a{2}$\" { b; }", "<location><~><^/a{2}$>{<b>;}"},
             {"map $a $b { '' x; \"\" y; default z; }", "<map><$a><$b>{<><x>;<><y>;<default><z>;}"},
             {"a_by_lua_block { if x then y = '}' end -- }\n z = [[ } ]] t = {1} } b;",
              "<a_by_lua_block>{}<b>;"},
         }) {
        CAPTURE(one.text);
        CHECK(parsed(one.text) == one.expected);
    }
}

TEST_CASE("nginx's syntax: a fault has a place, what was found and what was expected") {
    struct Case {
        std::string text, expected;
    };
    for (const Case& one : std::vector<Case>{
             {"a b\n}",
              "nginx.conf:2:1: found \"}\", expected \";\" or \"{\" behind \"a\" of line 1"},
             {"a;\n}", "nginx.conf:2:1: found \"}\" where no block is open, expected a directive"},
             {"a {\n b;\n",
              "nginx.conf:3:1: found the end of the file, expected \"}\" for the block "
              "\"a\" of line 1"},
             {"a b",
              "nginx.conf:1:4: found the end of the file, expected \";\" or \"{\" behind \"a\" "
              "of line 1"},
             {"a \"b;\n", "nginx.conf:1:3: found the end of the file in a text that begins with \" "
                          "here, expected \" at its end"},
             {"ä \"b\"c;",
              "nginx.conf:1:6: found \"c\" right behind a quoted text, expected a blank, "
              "\";\" or \"{\""},
             {";", "nginx.conf:1:1: found \";\", expected a directive"},
             {"a { { } }", "nginx.conf:1:5: found \"{\", expected a directive"},
             {std::string{"a \0;", 4}, "nginx.conf:1:1: found a NUL byte, expected the text of an "
                                       "nginx configuration"},
             {"include a b;", "nginx.conf:1:1: found 2 arguments of include, expected one file or "
                              "pattern"},
         }) {
        CAPTURE(one.text);
        CHECK(parsed(one.text) == one.expected);
    }
}

TEST_CASE("nginx's syntax: includes are relative to the main file, may be patterns, and end") {
    const Sources all = files({
        {"/etc/nginx/mime.types", "types { a b; }"},
        {"/etc/nginx/conf.d/1.conf", "include mime.types; one;"},
        {"/etc/nginx/conf.d/2.conf", "two;"},
        {"/etc/nginx/loop", "include loop;"},
        {"/etc/nginx/bad", "a;\n  b }"},
    });
    CHECK(parsed("include conf.d/*.conf;", all) == "<types>{<a><b>;}<one>;<two>;");
    CHECK(parsed("include none/*;", all).empty());
    CHECK(
        parsed("include loop;", all) == "/etc/nginx/loop:1:1: found an include of "
                                        "\"/etc/nginx/loop\" in itself, expected another file");
    CHECK(
        parsed("include bad;", all) == "/etc/nginx/bad:2:5: found \"}\", expected \";\" or \"{\" "
                                       "behind \"b\" of line 2");
    const auto made = parse("a {\n include gone; }", "nginx.conf", all);
    REQUIRE(made.has_value());
    REQUIRE(made->missing.size() == 1);
    CHECK(made->missing[0].at.text() == "nginx.conf:2:2");
    CHECK(made->missing[0].path == "/etc/nginx/gone");
    const auto patterns = parse("include none/*;\ninclude locked/*;", "nginx.conf", all);
    REQUIRE(patterns.has_value());
    REQUIRE(patterns->missing.size() == 2);
    CHECK(patterns->missing[0].reason.empty());
    CHECK(patterns->missing[1].at.text() == "nginx.conf:2:1");
    CHECK(patterns->missing[1].reason == "Permission denied");
}

TEST_CASE("nginx's syntax: depth, files and bytes are bounded") {
    std::string deep;
    for (int i = 0; i < 40; ++i)
        deep += "a {";
    CHECK(parsed(deep).ends_with("expected at most 32 levels"));
    CHECK(
        parsed(std::string(most_file_bytes + 1, ' ')).find("expected at most 4194304 in a file") !=
        std::string::npos);
    // Each file includes two more: the first way down ends it.
    std::map<std::string, std::string> chain;
    for (int i = 0; i < 30; ++i) {
        const std::string next = std::to_string(i + 1);
        chain["/etc/nginx/" + std::to_string(i)] = "include " + next + "; include " + next + ";";
    }
    CHECK(parsed("include 0;", files(chain)).ends_with("expected at most 16 levels"));
    std::map<std::string, std::string> beside; // with the main file one too many
    for (std::size_t i = 0; i < most_files; ++i)
        beside["/etc/nginx/all/" + std::to_string(i)] = "a;";
    CHECK(
        parsed("include all/*;", files(beside)).ends_with("one more file, expected at most 2000"));
    beside.erase("/etc/nginx/all/0");
    CHECK(parsed("include all/*;", files(beside)).starts_with("<a>;<a>;"));
    std::map<std::string, std::string> large; // with the main file too many bytes
    for (std::size_t i = 0; i < most_bytes / most_file_bytes; ++i)
        large["/etc/nginx/all/" + std::to_string(i)] = std::string(most_file_bytes, ' ');
    CHECK(parsed("include all/*;", files(large)).ends_with("and 16777216 in all"));
    std::string many;
    for (std::size_t i = 0; i <= most_directives; ++i)
        many += "a;";
    CHECK(parsed(many).ends_with("found one more directive, expected at most 200000"));
}
