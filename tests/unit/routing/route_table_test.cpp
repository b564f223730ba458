#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::routing;
using namespace stint::routing::test;

TEST_CASE("an empty table knows no path") {
    CHECK(found(RouteTable{}, "a.example", "/") == "404");
    CHECK(RouteTable{}.routes().empty());
}

TEST_CASE("a prefix matches on segment boundaries") {
    const RouteTable table{{route("a", "*", "/a"), route("ab", "*", "/a/b")}};

    CHECK(found(table, "h", "/a") == "a");
    CHECK(found(table, "h", "/a/") == "a");
    CHECK(found(table, "h", "/a/x") == "a");
    CHECK(found(table, "h", "/ab") == "404");
    CHECK(found(table, "h", "/a/bc") == "a");
    CHECK(found(table, "h", "/a/b/c") == "ab");
    CHECK(found(table, "h", "/") == "404");
}

TEST_CASE("a prefix that ends in a slash does not match without it") {
    const RouteTable table{{route("dir", "*", "/a/")}};

    CHECK(found(table, "h", "/a") == "404");
    CHECK(found(table, "h", "/a/") == "dir");
    CHECK(found(table, "h", "/a/b") == "dir");
}

TEST_CASE("a prefix with a slash is longer than the one without") {
    const RouteTable table{{route("file", "*", "/a"), route("dir", "*", "/a/")}};

    CHECK(found(table, "h", "/a") == "file");
    CHECK(found(table, "h", "/a/b") == "dir");
}

TEST_CASE("the prefix of the root matches every path, and the whole server") {
    const RouteTable table{{route("all", "*", "/")}};

    CHECK(found(table, "h", "/") == "all");
    CHECK(found(table, "h", "/a/b/") == "all");
    CHECK(found(table, "h", "*", "OPTIONS") == "all");
}

TEST_CASE("the whole server is no path: only a prefix of the root takes it") {
    const RouteTable table{{route("root", "*", "=/"), route("a", "*", "/a")}};

    CHECK(found(table, "h", "*", "OPTIONS") == "404");
}

TEST_CASE("an exact path matches that path alone") {
    const RouteTable table{{route("a", "*", "=/a"), route("b", "*", "=/b/")}};

    CHECK(found(table, "h", "/a") == "a");
    CHECK(found(table, "h", "/a/") == "404");
    CHECK(found(table, "h", "/a/x") == "404");
    CHECK(found(table, "h", "/b/") == "b");
    CHECK(found(table, "h", "/b") == "404");
}

TEST_CASE("an exact path goes before a prefix of the same text") {
    const RouteTable table{{route("prefix", "*", "/a"), route("exact", "*", "=/a")}};

    CHECK(found(table, "h", "/a") == "exact");
    CHECK(found(table, "h", "/a/b") == "prefix");
}

TEST_CASE("paths are case-sensitive") {
    CHECK(found(RouteTable{{route("a", "*", "/a")}}, "h", "/A") == "404");
}

TEST_CASE("an exact host goes before the longest suffix before any host") {
    const RouteTable table{
        {route("any", "*", "/"), route("org", "*.org", "/"), route("example", "*.example.org", "/"),
         route("exact", "www.example.org", "/")}};

    CHECK(found(table, "www.example.org", "/") == "exact");
    CHECK(found(table, "api.example.org", "/") == "example");
    CHECK(found(table, "x.api.example.org", "/") == "example");
    CHECK(found(table, "example.org", "/") == "org");
    CHECK(found(table, "org", "/") == "any");
    CHECK(found(table, "", "/") == "any");
    CHECK(found(table, "[::1]", "/") == "any");
}

TEST_CASE("a suffix does not match the host it is the suffix of") {
    const RouteTable table{{route("sub", "*.example.org", "/")}};

    CHECK(found(table, "example.org", "/") == "404");
    CHECK(found(table, ".example.org", "/") == "404");
    CHECK(found(table, "notexample.org", "/") == "404");
}

TEST_CASE("a host is named by a route for it, or for the hosts below its suffix") {
    const RouteTable table{
        {route("a", "a.example", "/x"), route("b", "*.b.example", "/"), route("any", "*", "/")}};

    CHECK(table.names_host("a.example"));
    CHECK(table.names_host("x.b.example"));
    CHECK(table.names_host("y.x.b.example"));
    CHECK_FALSE(table.names_host("b.example"));
    CHECK_FALSE(table.names_host("x.a.example"));
    CHECK_FALSE(table.names_host("example"));
    CHECK_FALSE(table.names_host(""));
    CHECK_FALSE(RouteTable{}.names_host("a.example"));
}

TEST_CASE("a more specific host goes before a longer path") {
    const RouteTable table{{route("path", "*", "/a/b/c"), route("host", "h.example", "/")}};

    CHECK(found(table, "h.example", "/a/b/c") == "host");
}

TEST_CASE("what no route of the more specific host takes may be another host's") {
    const RouteTable table{
        {route("exact", "www.example.org", "/a"), route("suffix", "*.example.org", "/b", {"GET"}),
         route("any", "*", "/")}};

    CHECK(found(table, "www.example.org", "/a") == "exact");
    CHECK(found(table, "www.example.org", "/b") == "suffix");
    CHECK(found(table, "www.example.org", "/b", "PUT") == "any");
    CHECK(found(table, "www.example.org", "/c") == "any");
}

TEST_CASE("a route that names the method goes before one that takes any") {
    const RouteTable table{{route("any", "*", "/a"), route("get", "*", "/a", {"GET"})}};

    CHECK(found(table, "h", "/a", "GET") == "get");
    CHECK(found(table, "h", "/a", "HEAD") == "any");
}

TEST_CASE("a method's case does not lead past the route that names it") {
    const RouteTable table{{route("any", "*", "/"), route("get", "*", "/a", {"GET", "X-1"})}};

    CHECK(found(table, "h", "/a", "get") == "get");
    CHECK(found(table, "h", "/a", "gEt") == "get");
    CHECK(found(table, "h", "/a", "x-1") == "get");
    CHECK(found(table, "h", "/a", "ge") == "any");
    CHECK(found(table, "h", "/a", "geu") == "any");
}

TEST_CASE("TRACE is taken by a route that names it, never by one that takes any method") {
    const RouteTable table{{route("any", "*", "/"), route("trace", "*", "/a", {"TRACE"})}};

    CHECK(found(table, "h", "/a", "TRACE") == "trace");
    CHECK(found(table, "h", "/a", "trace") == "trace");
    CHECK(found(table, "h", "/b", "TRACE") == "405");
    CHECK(found(table, "h", "/b", "trace") == "405");
}

TEST_CASE("a longer path with another method gives way to a shorter one") {
    const RouteTable table{{route("long", "*", "/a/b", {"POST"}), route("short", "*", "/a")}};

    CHECK(found(table, "h", "/a/b", "POST") == "long");
    CHECK(found(table, "h", "/a/b", "GET") == "short");
}

TEST_CASE("a path that matches with no method is told from one that does not match") {
    const RouteTable table{{route("a", "*", "/a", {"GET"})}};

    CHECK(found(table, "h", "/a", "PUT") == "405");
    CHECK(found(table, "h", "/a", "gets") == "405");
    CHECK(found(table, "h", "/b", "PUT") == "404");
}

TEST_CASE("the methods allowed are those of every route for the host and path") {
    const RouteTable table{
        {route("a", "h.example", "/a", {"PUT", "GET"}), route("b", "*", "/", {"HEAD", "GET"}),
         route("c", "*", "/b", {"DELETE"})}};

    CHECK(table.allowed_methods("h.example", "/a/x") == "GET, HEAD, PUT");
    CHECK(table.allowed_methods("other", "/b") == "DELETE, GET, HEAD");
    CHECK(RouteTable{}.allowed_methods("h", "/").empty());
}

TEST_CASE("of two routes with the same right the first wins") {
    const RouteTable table{
        {route("one", "*", "/a"), route("two", "*", "/a"), route("three", "*", "/b", {"GET"}),
         route("four", "*", "/b", {"GET"})}};

    CHECK(found(table, "h", "/a") == "one");
    CHECK(found(table, "h", "/b") == "three");
}

TEST_CASE("routes stay where they are when the table moves") {
    RouteTable table{{route("a", "*", "/a")}};
    const Route* const before = table.match("h", "/a", "GET").route;

    const RouteTable moved = std::move(table);

    CHECK(moved.match("h", "/a", "GET").route == before);
    CHECK(moved.routes().data() == before);
}

TEST_CASE("regular expressions go behind an exact path and before every prefix") {
    const RouteTable table{
        {route("prefix", "*", "/items/special"), route("regex", "*", "~/items/[a-z0-9]+(/.*)?"),
         route("exact", "*", "=/items/1")}};

    CHECK(found(table, "h", "/items/1") == "exact");
    CHECK(found(table, "h", "/items/2") == "regex");
    CHECK(found(table, "h", "/items/special/x") == "regex");
    CHECK(found(table, "h", "/items/special/x/..") == "regex");
    CHECK(found(table, "h", "/items/SPECIAL") == "404");
}

TEST_CASE("the first regular expression that matches, and takes the method, wins") {
    const RouteTable table{
        {route("get", "*", "~/a/.*", {"GET"}), route("wide", "*", "~/.*"),
         route("post", "*", "~/a/.*", {"POST"}), route("narrow", "*", "~/b/c")}};

    CHECK(found(table, "h", "/a/x", "GET") == "get");
    CHECK(found(table, "h", "/a/x", "POST") == "post");
    CHECK(found(table, "h", "/a/x", "PUT") == "wide");
    CHECK(found(table, "h", "/b/c") == "wide");
    CHECK(table.allowed_methods("h", "/a/x") == "GET, POST");
}

TEST_CASE("a regular expression of a host concerns that host, and never the server as a whole") {
    const RouteTable table{{route("a", "a.example", "~.*"), route("any", "*", "/")}};

    CHECK(found(table, "a.example", "/x") == "a");
    CHECK(found(table, "b.example", "/x") == "any");
    CHECK(found(table, "a.example", "*", "OPTIONS") == "any");
}
