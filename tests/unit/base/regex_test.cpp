#include "base/regex.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;

namespace {

Regex compiled(std::string_view pattern) {
    const auto regex = Regex::compile(pattern);
    REQUIRE(regex.has_value());
    return *regex;
}

std::string fault_of(std::string_view pattern) {
    const auto regex = Regex::compile(pattern);
    return regex.has_value() ? "" : regex.error().why;
}

// The groups that `to` names, each with a "|" behind it.
std::string groups(std::string_view pattern, std::string_view text, std::string_view to) {
    Regex::Groups groups;
    if (!compiled(pattern).match_groups(text, to, groups))
        return "no match";
    std::string all;
    for (const std::string_view group : groups)
        all.append(group).append("|");
    return all.substr(0, all.find_last_not_of('|') + 1);
}

} // namespace

TEST_CASE("a regular expression matches a whole text") {
    const Regex regex = compiled("/items/[0-9]+");

    CHECK(regex.matches("/items/17"));
    CHECK_FALSE(regex.matches("/items/17/"));
    CHECK_FALSE(regex.matches("/v1/items/17"));
    CHECK(compiled("^/a|/b$").matches("/b"));
    CHECK_FALSE(compiled("^/a|/b$").matches("/bb"));
    CHECK(compiled("(?i)/a").matches("/A"));
}

TEST_CASE("what is no regular expression says so in RE2's words") {
    CHECK(fault_of("/a(b") == "missing ): /a(b");
    CHECK(fault_of(R"(/(a)\1)") != "");
    CHECK(fault_of("/(?=a)") != "");
    CHECK(fault_of("(((a{100}){100}){100}){100}") != "");
}

TEST_CASE("a match has the groups that are named") {
    CHECK(groups("/items/([0-9]+)", "/items/17", R"(/v2/\1/show)") == "/items/17|17");
    CHECK(groups("/(a)?/(b)", "//b", R"(/\2\1)") == "//b||b");
    CHECK(groups("/(.*)/(.*)", "/a/b", R"(\0\\\1)") == "/a/b|a");
    CHECK(groups("/(a)", "/a", R"(/\\1)") == "/a");
    CHECK(groups("/a", "/b", "/c") == "no match");
}

TEST_CASE("what cannot be filled in has a fault") {
    const Regex regex = compiled("/(a)");

    CHECK(regex.rewrite_fault(R"(/\1)").empty());
    CHECK(regex.rewrite_fault(R"(/\2)").find("2") != std::string::npos);
    CHECK_FALSE(regex.rewrite_fault(R"(/\x)").empty());
}

TEST_CASE("it is known which characters may come first") {
    CHECK(compiled("/items/.*").may_begin_with('/'));
    CHECK(compiled("^/items$").may_begin_with('/'));
    CHECK(compiled(".*[.]php").may_begin_with('/'));
    CHECK(compiled("(/a|b)").may_begin_with('/'));
    CHECK_FALSE(compiled("items/.*").may_begin_with('/'));
    CHECK_FALSE(compiled("[.]php$").may_begin_with('/'));
}

// A backtracking matcher would take longer than the universe has existed.
TEST_CASE("no pattern hangs") {
    const Regex regex = compiled("(/?(a|aa)+)+b");

    CHECK_FALSE(regex.matches("/" + std::string(100'000, 'a')));
}
