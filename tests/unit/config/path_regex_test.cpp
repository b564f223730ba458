// Regular expressions that can match no path are mistakes; those of which that is not certain are
// none.
#include "config/values/path_regex.hpp"
#include "config_support.hpp"

#include <string>
#include <vector>

namespace stint::config {

namespace {

using Texts = std::vector<std::string>;

// What is wrong with the pattern; "" when nothing is.
std::string
fault(std::string_view pattern, PathUse use = PathUse::pattern, const PathRules& rules = {}) {
    const auto regex = parse_path_regex(pattern, use, rules);
    return regex ? "" : regex.error().why;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

} // namespace

TEST_CASE("what every match holds is known where it is plain to see") {
    CHECK(required_texts("/items/[0-9]+/show") == Texts{"/items/", "/show"});
    CHECK(required_texts("^/a.b$") == Texts{"/a", "b"});
    CHECK(required_texts("/ab*c+d?e{2}f{2,3}?g{,h") == Texts{"/a", ",h"});
    CHECK(required_texts(R"(/a\.b\%\\c\dd\z)") == Texts{R"(/a.b%\c)", "d"});
    CHECK(required_texts("/a(b(?:c)|d)e(f)*g") == Texts{"/a", "e", "g"});
    CHECK(
        required_texts("/a[]b]c[^]d]e[f[:alpha:]g]h[\\]i]j[[k]l") ==
        Texts{"/a", "c", "e", "h", "j", "l"});
    CHECK(required_texts("/[|(*]a") == Texts{"/", "a"});
}

TEST_CASE("nothing is said of a pattern that is read in a way of its own") {
    for (const std::string_view pattern :
         {"/a|/b", "(?i)/a", "/(?P<name>a)b", "/a(?i:b)c", R"(/\Qa*\E)", R"(/\x41b)", R"(/a\pN)",
          R"(/\101)"}) {
        CAPTURE(pattern);
        REQUIRE(Regex::compile(pattern).has_value());
        CHECK(required_texts(pattern).empty());
    }
}

TEST_CASE("a pattern with text that no normalised path has is a mistake that says what to write") {
    CHECK(has(fault("/caf%c3%a9"), "matches no path: it has \"%c3\"; write \"%C3\""));
    CHECK(has(fault("/caf%C3%a9/.*"), "it has \"%a9\"; write \"%A9\""));
    CHECK(has(fault("/%7Eme/.*"), "it has \"%7E\"; write \"~\""));
    CHECK(has(fault("/.*/%41"), "it has \"%41\"; write \"A\""));
    CHECK(has(fault("/a%3Ab"), "it has \"%3A\"; write \":\""));
    CHECK(has(fault("/a//b"), "it has \"//\"; paths are matched with single slashes"));
    CHECK(has(fault("/a%zz"), "it has a \"%\" without two hexadecimal digits"));
    CHECK(has(fault("/a%00"), "it has %00, which is refused in requests"));
    CHECK(has(fault(R"(/a\?b=.*)"), "it has a query or a fragment; the path alone is matched"));
    CHECK(has(fault("/a#b"), "it has a query or a fragment"));
    CHECK(has(fault("/a%2Fb"), "it has %2F; requests that would match it are refused"));
    CHECK(has(fault(R"(/items\[[0-9]+\])"), "it has a character that paths do not have"));
    CHECK(has(fault("/a%3Bb"), "it has %3B; requests that would match it are refused"));
    CHECK(has(fault("/a;b"), "it has \";\"; requests that would match it are refused"));
}

TEST_CASE("a pattern that may match some path is none") {
    for (const std::string_view pattern :
         {"/caf%C3%A9", "(?i)/caf%c3%a9", "/a(%7E|~)b", "/a|/b//c", "/a/?/b", "/a/*/b", "/a/+b",
          "/[/]/a", "/a%[0-9a-f]{2}", "/a%4", "/a%4.", "/a(;b)?", "/a[?#;]?b", "/a%2520",
          "/a[^]//%c3]", "/a%?41", "/a(%3A|:)b", R"(/a\Q//\E|/b)"}) {
        CAPTURE(pattern);
        CHECK(fault(pattern) == "");
    }
    CHECK(fault("/a//b", PathUse::pattern, {.merge_slashes = false}) == "");
}

TEST_CASE("a rewrite sees what routes refuse") {
    CHECK(fault("/a%2F(.*)", PathUse::other) == "");
    CHECK(fault("/a%3A;(.*)", PathUse::other) == "");
    CHECK(has(fault("/a%2f(.*)", PathUse::other), "it has \"%2f\"; write \"%2F\""));
    CHECK(has(fault("/a%7E(.*)", PathUse::other), "it has \"%7E\"; write \"~\""));
    CHECK(has(fault("//(.*)", PathUse::other), "it has \"//\""));
}

TEST_CASE("the mistake has its place") {
    check_added(
        "routes: [{name: r, upstream: shop, match: {path_regex: \"/caf%c3%a9\"}}]\n",
        {"3:56: routes[0].match.path_regex: \"/caf%c3%a9\" matches no path: it has \"%c3\"; write "
         "\"%C3\""});
    check_added(
        "routes: [{name: r, upstream: shop, rewrite: {regex: /a//(.*), to: \"/\\\\1\"}}]\n",
        {"3:53: routes[0].rewrite.regex: \"/a//(.*)\" matches no path: it has \"//\""});
    check_added(
        "merge_slashes: false\n"
        "routes: [{name: r, upstream: shop, rewrite: {regex: /a//(.*), to: \"/\\\\1\"}}]\n",
        {});
}

TEST_CASE("a path that is sent may have what servers read in several ways") {
    check_added("routes: [{name: r, upstream: shop, rewrite: \"/a%2Fb%3A;c\"}]\n", {});
    check_added(
        "routes: [{name: r, upstream: shop, rewrite: /a%3ab}]\n",
        {"3:45: has \"%3a\"; write \"%3A\""});
}

} // namespace stint::config
