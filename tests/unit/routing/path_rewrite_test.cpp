#include "routing/path_rewrite.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::routing;

namespace {

std::string applied(const PathRewrite& rewrite, std::string_view path) {
    std::string out = "what was there before";
    const bool whole = rewrite.apply(path, out);
    CHECK((whole || out == "/"));
    return whole ? out : "cut";
}

PathRewrite prefix(std::string from, std::string to) {
    return {PathRewrite::Kind::prefix, std::move(from), std::move(to), {}};
}

PathRewrite regex(std::string_view pattern, std::string to) {
    return {PathRewrite::Kind::regex, {}, std::move(to), *Regex::compile(pattern)};
}

} // namespace

TEST_CASE("a prefix is taken away on a segment boundary") {
    const PathRewrite strip = prefix("/api", "");

    CHECK(applied(strip, "/api") == "/");
    CHECK(applied(strip, "/api/") == "/");
    CHECK(applied(strip, "/api/a/b") == "/a/b");
    CHECK(applied(strip, "/apis/a") == "/apis/a");
    CHECK(applied(strip, "/v1/api") == "/v1/api");
}

TEST_CASE("a prefix is replaced") {
    CHECK(applied(prefix("/api", "/v2"), "/api") == "/v2");
    CHECK(applied(prefix("/api", "/v2"), "/api/a") == "/v2/a");
    CHECK(applied(prefix("", "/v2"), "/a") == "/v2/a");
    CHECK(applied(prefix("", "/v2"), "/") == "/v2/");
}

TEST_CASE("no rewritten path begins like an authority") {
    CHECK(applied(prefix("/api", ""), "/api//evil.example") == "/evil.example");
    CHECK(applied(regex("/go(.*)", "/\\1"), "/go//evil.example/a") == "/evil.example/a");
    CHECK(applied(regex("/go(.*)", "\\1"), "/go///") == "/");
}

TEST_CASE("a fixed path stands for every other") {
    const PathRewrite whole{PathRewrite::Kind::whole, {}, "/new", {}};

    CHECK(applied(whole, "/") == "/new");
    CHECK(applied(whole, "/a/b") == "/new");
}

TEST_CASE("a regular expression of the whole path puts its groups elsewhere") {
    const PathRewrite items = regex("/items/([0-9]+)(/.*)?", "/v2\\2/\\1");

    CHECK(applied(items, "/items/17") == "/v2/17");
    CHECK(applied(items, "/items/17/a") == "/v2/a/17");
    CHECK(applied(items, "/items/17x") == "/items/17x");
}

TEST_CASE("dot segments that a rewrite makes are resolved, and end at the root") {
    const PathRewrite dots = regex("/a(.*)", "/x/.\\1");

    CHECK(applied(dots, "/a./b") == "/b");
    CHECK(applied(dots, "/a/b") == "/x/b");
    CHECK(applied(dots, "/a") == "/x/");
    CHECK(applied(regex("/a/(.*)/(.*)", "/.\\1/.\\2"), "/a/./.") == "/");
    CHECK(applied(regex("/a/(.*)", "/.\\1/..c"), "/a/b") == "/.b/..c");
}

TEST_CASE("a group that would cut an escape makes no path") {
    const PathRewrite swap = regex("/(.)(.*)", "/\\2\\1");
    CHECK(applied(swap, "/abc") == "/bca");
    CHECK(applied(swap, "/a%C3%A9") == "/%C3%A9a");
    CHECK(applied(swap, "/%C3%A9") == "cut");
    CHECK(applied(regex("/(%)25(.*)", "/\\1\\2"), "/%252E%252E") == "cut");  // "/%2E%252E"
    CHECK(applied(regex("/(.*)25(2F.*)", "/\\1\\2"), "/..%252Fa") == "cut"); // "/..%2Fa"
    CHECK(applied(regex("/(%2)5(.*)", "/\\1"), "/%25") == "cut");
    CHECK(applied(regex("/(.{4}).*", "/\\1"), "/abc%C3") == "cut");
    CHECK(applied(regex("/(.{4}).*", "/\\1"), "/a%C3%A9") == "/a%C3");
    CHECK(applied(regex("/(%)(.*)", "/x"), "/%C3") == "/x"); // named by nobody
    CHECK(applied(regex("/(%(x?)C3)", "/\\1\\2"), "/%C3") == "/%C3");
}

TEST_CASE("other names with dots are no dot segments") {
    CHECK(applied(prefix("/api", ""), "/api/.well-known/a") == "/.well-known/a");
    CHECK(applied(regex("/a(.*)", "/b\\1"), "/a/...") == "/b/...");
    CHECK(applied(regex("/a(.*)", "/b\\1"), "/a/.b/..c/d..") == "/b/.b/..c/d..");
    CHECK(applied(regex("/a(.*)", "/b/.\\1"), "/a./.b/..c/.d") == "/.b/..c/.d");
}

TEST_CASE("a literal backslash is one") {
    CHECK(applied(regex("/(a)", "/\\\\1\\1"), "/a") == "/\\1a");
}
