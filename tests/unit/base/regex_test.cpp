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

std::string rewritten(std::string_view pattern, std::string_view text, std::string_view to) {
    std::string out = "?";
    return compiled(pattern).rewrite(text, to, out) ? out : "no match";
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

TEST_CASE("groups of a match fill in what stands in its place") {
    CHECK(rewritten("/items/([0-9]+)", "/items/17", R"(/v2/\1/show)") == "/v2/17/show");
    CHECK(rewritten("/(a)?/(b)", "//b", R"(/\2\1)") == "/b");
    CHECK(rewritten("/(.*)", "/a/b", R"(\0\\\1)") == R"(/a/b\a/b)");
    CHECK(rewritten("/a", "/b", "/c") == "no match");
    CHECK(rewritten("/a", "/a", "") == "");
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
