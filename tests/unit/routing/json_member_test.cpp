#include "routing/json_member.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint::routing;

std::string member(std::string text, std::string_view name = "a") {
    const JsonValue found = json_member(text, name);
    return text.substr(found.begin, found.size);
}

} // namespace

TEST_CASE("a member's string is decoded, a number and a boolean are as written") {
    CHECK(member(R"({"a":"x"})") == "x");
    CHECK(member(" { \"b\" : 1 ,\t\"a\"\r\n: \"x y\" } ") == "x y");
    CHECK(member(R"({"a":12.50})") == "12.50");
    CHECK(member(R"({"a":-0.1e+3})") == "-0.1e+3");
    CHECK(member(R"({"a":0})") == "0");
    CHECK(member(R"({"a":true,"b":false})") == "true");
    CHECK(member(R"({"b":{"a":1},"c":[{"a":2}],"a":3})") == "3");
    CHECK(member(R"({"https://example.com/tier":"gold"})", "https://example.com/tier") == "gold");
}

TEST_CASE("escapes mean what RFC 8259 says, in names too") {
    CHECK(member(R"({"a":"\"\\\/\b\f\n\r\t"})") == "\"\\/\b\f\n\r\t");
    CHECK(member(R"({"a":"\u0041\u00e9\u20AC"})") == "A\xc3\xa9\xe2\x82\xac");
    CHECK(member(R"({"a":"\ud83d\ude00!"})") == "\xf0\x9f\x98\x80!");
    CHECK(member(R"({"\u0061":"x"})") == "x");
    CHECK(member(R"({"a":"\u0000"})") == std::string(1, '\0'));
}

TEST_CASE("what is no scalar, empty, missing or there twice is no value") {
    for (const std::string_view text :
         {R"({"a":null})", R"({"a":{}})", R"({"a":[1]})", R"({"a":""})", R"({})", R"({"A":1})",
          R"({"a":1,"a":1})", R"({"a":1,"\u0061":2})"}) {
        CAPTURE(text);
        CHECK(member(std::string{text}).empty());
    }
}

TEST_CASE("a text that is not exactly one well-formed object has no members") {
    for (const std::string_view text :
         {"",
          "1",
          "\"a\"",
          "[1]",
          "{",
          R"({"a")",
          R"({"a":)",
          R"({"a":1)",
          R"({"a":1,})",
          R"({"a":1}x)",
          R"({"a":1}{"a":1})",
          R"({a:1})",
          R"({'a':1})",
          R"({"a":01})",
          R"({"a":1.})",
          R"({"a":.5})",
          R"({"a":+1})",
          R"({"a":1e})",
          R"({"a":-})",
          R"({"a":tru})",
          R"({"a":True})",
          R"({"a":"x)",
          R"({"a":"\x"})",
          R"({"a":"\u12"})",
          R"({"a":"\ud800"})",
          R"({"a":"\udc00\ud800"})",
          R"({"a":"\ud800\u0041"})",
          "{\"a\":\"\n\"}",
          R"({"a":1,"b":[1,]})",
          R"({"a":1,"b":[})",
          R"({"a":1 "b":2})",
          R"({"a":1,"b":nul})"}) {
        CAPTURE(text);
        CHECK(member(std::string{text}).empty());
    }
}

TEST_CASE("a name with dots is the member of that name, else one inside the objects it names") {
    CHECK(member(R"({"a":{"b":"x"}})", "a.b") == "x");
    CHECK(member(R"({"n":0,"a":{"z":[{}],"b":{"c":7}},"m":{}})", "a.b.c") == "7");
    CHECK(member(R"({"a.b":"whole","a":{"b":"inside"}})", "a.b") == "whole");
    CHECK(member(R"({"a":{"b":"inside"},"a.b":"whole"})", "a.b") == "whole");
    CHECK(member(R"({"a":{"b.c":"whole","b":{"c":"inside"}}})", "a.b.c") == "whole");
    CHECK(member(R"({"https://x/roles":"admin"})", "https://x/roles") == "admin");
    CHECK(member(R"({"https://x.example/roles":"admin"})", "https://x.example/roles") == "admin");
    CHECK(member(R"({"\u0061":{"\u0062":"\u0041"}})", "a.b") == "A");
    CHECK(member(R"({"":{"":"x"}})", ".") == "x");
}

TEST_CASE("a name with dots finds nothing where the way is unclear or ends early") {
    for (const std::string_view text :
         {R"({"a":1})", R"({"a":[{"b":1}]})", R"({"a":{}})", R"({"a":{"c":1}})", R"({"b":1})",
          R"({"a":{"b":{}}})", R"({"a":{"b":null}})", R"({"a":{"b":1},"a":{"b":2}})",
          R"({"a":{"b":1},"a":2})", R"({"a":{"b":1,"b":2}})", R"({"a.b":null,"a":{"b":1}})",
          R"({"a.b":1,"a.b":2,"a":{"b":1}})", R"({"a":{"b":1})", R"({"a":{"b":1,}})",
          R"({"a":{"b":1}}x)"}) {
        CAPTURE(text);
        CHECK(member(std::string{text}, "a.b").empty());
    }
}

TEST_CASE("the way to a member is at most 64 objects long") {
    const auto nested = [](std::size_t depth) {
        std::string text;
        for (std::size_t i = 0; i < depth; ++i)
            text += R"({"a":)";
        return text + "1" + std::string(depth, '}');
    };
    const auto name = [](std::size_t depth) {
        std::string text = "a";
        for (std::size_t i = 1; i < depth; ++i)
            text += ".a";
        return text;
    };

    CHECK(member(nested(64), name(64)) == "1");
    CHECK(member(nested(65), name(65)).empty());
    CHECK(member(nested(100'000), name(100'000)).empty());
}

TEST_CASE("a value nests at most 64 deep") {
    const auto nested = [](std::size_t depth) {
        return R"({"a":1,"b":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
    };

    CHECK(member(nested(64)) == "1");
    CHECK(member(nested(100'000)).empty());
}

TEST_CASE("whatever the text, only bytes of it are looked at and named") {
    constexpr std::string_view bytes = "{}[]\":,\\u0aD8dtrue01.e-+ n";
    std::mt19937 random{20240607}; // fixed: a failure can be seen again
    const auto any = [&](std::size_t below) { return random() % below; };
    for (int i = 0; i < 100'000; ++i) {
        std::string text = any(2) == 0 ? R"({"a":"\ud83d\ude00x","b":{"c":[-1.5e3],"d":1}})" : "{";
        for (std::size_t changes = any(8); changes > 0; --changes)
            text.insert(any(text.size() + 1), 1, bytes[any(bytes.size())]);
        text.resize(any(text.size() + 1));
        const std::vector<char> exact(text.begin(), text.end()); // no byte behind it
        std::vector<char> scratch = exact;

        const JsonValue found = json_member(scratch, any(2) == 0 ? "a" : "b.c");

        REQUIRE(found.begin <= scratch.size());
        REQUIRE(found.size <= scratch.size() - found.begin);
    }
}
