#include "http/structured_list.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint::http;

struct Read {
    std::vector<std::string> names;
    bool malformed = false;
};

Read read(std::string_view text) {
    StringList list{text};
    Read result;
    while (const auto member = list.next())
        result.names.emplace_back(member->name);
    result.malformed = list.malformed();
    return result;
}

StringMember first(std::string_view text) {
    StringList list{text};
    return list.next().value();
}

} // namespace

TEST_CASE("a list of strings is read member by member") {
    const Read list = read(R"("burst";q=100;w=60;pk=:cHsdsRa894==: ,	"daily";q=1000)");

    CHECK(list.names == std::vector<std::string>{"burst", "daily"});
    CHECK_FALSE(list.malformed);
}

TEST_CASE("an empty list is well-formed") {
    CHECK_FALSE(read("").malformed);
    CHECK_FALSE(read("  ").malformed);
}

TEST_CASE("parameters are found by their key, the last of a name") {
    const StringMember member = first(R"("a";q=1; w=60;q=-2;qu="content-bytes";flag;t=1.5)");

    CHECK(member.integer("q") == -2);
    CHECK(member.integer("w") == 60);
    CHECK(member.string("qu") == "content-bytes");
    CHECK(member.integer("flag") == std::nullopt);
    CHECK(member.integer("t") == std::nullopt);
    CHECK(member.integer("qu") == std::nullopt);
    CHECK(member.string("q") == std::nullopt);
    CHECK(member.integer("missing") == std::nullopt);
}

TEST_CASE("every kind of value may stand in a parameter") {
    for (const char* value :
         {"1", "-1", "999999999999999", "1.5", "123456789012.123", "\"a\\\"b\\\\\"", "token/x:y",
          "*", ":YWJj:", "::", "?0", "?1", "@1659578233", "%\"f%c3%bc\""})
        CHECK_MESSAGE(!read(std::string{"\"a\";x="} + value).malformed, value);
}

TEST_CASE("what RFC 9651 does not have is malformed") {
    for (const char* text :
         {"a",
          "1",
          "(\"a\")",
          "\"a",
          "\"a\\b\"",
          "\"\x7f\"",
          "\"a\",",
          ",\"a\"",
          "\"a\",,\"b\"",
          "\"a\" \"b\"",
          "\"a\";",
          "\"a\";=1",
          "\"a\";Q=1",
          "\"a\";q=",
          "\"a\";q=1.",
          "\"a\";q=.5",
          "\"a\";q=1.2345",
          "\"a\";q=1234567890123456",
          "\"a\";q=--1",
          "\"a\";q=:a",
          "\"a\";q=:a b:",
          "\"a\";q=?2",
          "\"a\";q=@1.5",
          "\"a\";q =1",
          "\"a\" ;q=1",
          "limit=100, remaining=50",
          "100;w=60"})
        CHECK_MESSAGE(read(text).malformed, text);
}

TEST_CASE("an escaped quote does not end a string") {
    CHECK(read(R"("a\"b, \\")").names == std::vector<std::string>{R"(a\"b, \\)"});
}
