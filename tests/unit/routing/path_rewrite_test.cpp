#include "routing/path_rewrite.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::routing;

namespace {

std::string applied(const PathRewrite& rewrite, std::string_view path) {
    std::string out = "what was there before";
    rewrite.apply(path, out);
    return out;
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
