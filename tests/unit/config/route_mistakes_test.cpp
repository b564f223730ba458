// Mistakes in routes.
#include "config_support.hpp"

namespace stint::config {

namespace {

// `match` stands at 3:43.
void check_match(
    std::string_view match,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added(
        "routes: [{name: r, upstream: shop, match: " + std::string{match} + "}]\n", expected, at);
}

} // namespace

TEST_CASE("a route needs a name and an upstream that exists") {
    check_added(
        "routes:\n  - {}\n  - {name: a/b, upstream: shpo}\n  - {name: c, upstream: other}\n  - d\n",
        {"4:5: routes[0]: name is missing", "4:5: routes[0]: upstream is missing",
         "5:5: routes[1]: matches the same requests as routes[0] on line 4",
         "5:12: routes[1].name: \"a/b\" is not a name",
         "5:27: routes[1].upstream: \"shpo\" is not an upstream; did you mean \"shop\"?",
         "6:5: routes[2]: matches the same requests as routes[0] on line 4",
         "6:25: routes[2].upstream: \"other\" is not an upstream; expected shop",
         "7:5: routes[3]: found the value \"d\"; expected a map"});
}

TEST_CASE("a route's upgrade is off or a list of protocols that carry no requests") {
    const auto upgrade = [](std::string_view value,
                            std::initializer_list<std::string_view> expected,
                            std::source_location at = std::source_location::current()) {
        check_added(
            "routes: [{name: r, upstream: shop, upgrade: " + std::string{value} + "}]\n", expected,
            at);
    };
    upgrade("off", {});
    upgrade("[websocket, Foo]", {});
    upgrade("websocket", {"3:45: routes[0].upgrade: \"websocket\" is"});
    upgrade("[]", {"3:45: routes[0].upgrade: is empty; expected at least one protocol"});
    upgrade("{a: b}", {"3:45: routes[0].upgrade: found a map; expected off or a list"});
    upgrade("[h2c]", {"3:46: routes[0].upgrade[0]: \"h2c\" would carry requests past the limits"});
    upgrade("[HTTP/2.0]", {"3:46: \"HTTP/2.0\" would carry requests past the limits"});
    upgrade("[a, TLS/1.2]", {"3:49: \"TLS/1.2\" would carry requests past the limits"});
    upgrade("[websocket/13]", {"3:46: \"websocket/13\" is not a protocol; expected a name"});
    upgrade("[a, A]", {"3:49: routes[0].upgrade[1]: \"a\" is listed already"});
}

TEST_CASE("two routes do not share a name") {
    check_added(
        "routes:\n  - {name: a, upstream: shop}\n  - {name: a, upstream: shop, match: {path: "
        "/a}}\n",
        {"5:5: routes[1]: the name \"a\" is taken by the route on line 4"});
}

TEST_CASE("two routes with the same right to a request are a mistake") {
    check_added(
        "routes:\n"
        "  - {name: a, upstream: shop, match: {host: A.example, path: /x, methods: [GET, PUT]}}\n"
        "  - {name: b, upstream: shop, match: {host: a.example, path: /x, methods: [PUT]}}\n"
        "  - {name: c, upstream: shop, match: {path_exact: /x}}\n"
        "  - {name: d, upstream: shop, match: {path_exact: /x, host: \"*\"}}\n",
        {"5:5: routes[1]: matches the same requests (PUT) as routes[0] on line 4",
         "7:5: routes[3]: matches the same requests as routes[2] on line 6"});
}

TEST_CASE("a host is a name, a suffix, an address or any") {
    check_match("{host: \"*\"}", {});
    check_match("{host: \"*.example.org\"}", {});
    check_match("{host: localhost}", {});
    check_match("{host: 1.2.3.4}", {});
    check_match("{host: \"[::1]\"}", {});
    check_match(
        "{host: shop:80}", {"3:50: routes[0].match.host: \"shop:80\" has a port; expected"});
    check_match("{host: shop.example.}", {"3:50: \"shop.example.\" ends in a dot"});
    check_match("{host: \"shop.*\"}", {"3:50: \"shop.*\" is not a host; expected a host such as"});
    check_match("{host: \"*shop\"}", {"3:50: is not a host"});
    check_match("{host: \"*.\"}", {"3:50: is not a host"});
    check_match("{host: \"*.1.2.3.4\"}", {"3:50: is not a host"});
    check_match("{host: http://shop}", {"3:50: is not a host"});
    check_match("{host: \"\"}", {"3:50: \"\" is not a host"});
}

TEST_CASE("an IPv6 host is spelt in any way and known by one") {
    const Config config = loaded(
        std::string{base} +
        "routes: [{name: r, upstream: shop, match: {host: \"[2001:DB8:0::01]\"}}]\n");

    CHECK(config.routes[0].match.host == "[2001:db8::1]");
}

TEST_CASE("a path is written as requests are matched") {
    check_match("{path: \"/a-b_c.d~e/%20x=1,2:@!$&'()*+\"}", {});
    check_match("{path: /.well-known/...}", {});
    check_match("{path: a}", {"3:50: routes[0].match.path: \"a\" does not begin with \"/\""});
    check_match("{path: \"/a?b\"}", {"3:50: has a query or a fragment"});
    check_match("{path: \"/a#b\"}", {"3:50: has a query or a fragment"});
    check_match("{path: /a//b}", {"3:50: has \"//\"; requests are matched with single slashes"});
    check_match("{path: /a/./b}", {"3:50: has a \".\" or \"..\" segment"});
    check_match("{path: /a/..}", {"3:50: has a \".\" or \"..\" segment"});
    check_match("{path: /caf\xC3\xA9}", {"3:50: write it as a percent-escape"});
    check_match("{path: /a b}", {"3:50: write it as a percent-escape"});
    check_match("{path: /%7E}", {"3:50: has \"%7E\"; write \"~\""});
    check_match("{path: /%c3}", {"3:50: has \"%c3\"; write \"%C3\""});
    check_match("{path: /a%3Ab}", {"3:50: has \"%3A\"; write \":\""});
    check_match("{path_exact: /%28}", {"3:56: has \"%28\"; write \"(\""});
    check_match("{path: /%4}", {"3:50: has a \"%\" without two hexadecimal digits"});
    check_match("{path: /%00}", {"3:50: has %00"});
    check_match("{path: /%5C}", {"3:50: has %5C, which is refused in requests"});
    check_match("{path: /a%2Fb}", {"3:50: has %2F; requests that would match it are refused"});
    check_match("{path: \"/a;b\"}", {"3:50: has \";\"; requests that would match it are refused"});
    check_match(
        "{path_exact: x, path: /}", {"3:44: routes[0].match.path_exact: excludes path; keep one",
                                     "3:56: routes[0].match.path_exact: \"x\" does not begin"});
}

TEST_CASE("methods are upper-case names, each once") {
    check_match("{methods: [GET, PROPFIND, X-A]}", {});
    check_match("{methods: []}", {"3:53: match.methods: is empty; leave methods out to match any"});
    check_match("{methods: [CONNECT]}", {"3:54: \"CONNECT\" is refused in requests"});
    check_match("{methods: [TRACE]}", {});
    check_match(
        "{methods: GET}", {"3:53: found the value \"GET\"; expected a list such as [GET, HEAD]"});
    check_match(
        "{methods: [get, GET, GET, \"G T\", [GET]]}",
        {"3:54: match.methods[0]: \"get\" is not a method: their names are upper-case; did you "
         "mean "
         "\"GET\"?",
         "3:64: match.methods[2]: \"GET\" is listed already",
         "3:69: match.methods[3]: \"G T\" is not a method; expected a name such as GET",
         "3:76: match.methods[4]: found a list; expected a method"});
}

TEST_CASE("a misspelt key deep in a route is found") {
    check_match("{pth: /x}", {"3:44: routes[0].match.pth: unknown key; did you mean \"path\"?"});
    check_match("/x", {"3:43: routes[0].match: found the value \"/x\"; expected a map such as"});
}

TEST_CASE("no limit lets wait beside one that reserves") {
    check_added(
        "limits:\n"
        "  r: {requests: 1, per: 1s, retry_after: reserve}\n"
        "  w: {concurrent: 1, when_exceeded: wait}\n"
        "routes:\n"
        "  - {name: a, upstream: shop, match: {path: /a}, limits: [r, w]}\n"
        "  - {name: b, upstream: shop, match: {path: /b}, limits: [w, {concurrent: 2}, r]}\n"
        "  - {name: c, upstream: shop, match: {path: /c}, limits: [w]}\n",
        {"7:62: routes[0].limits[1]: \"w\" lets requests wait and \"r\" reserves; expected limits "
         "with either when_exceeded: wait or retry_after: reserve",
         "8:79: routes[1].limits[2]: \"r\" reserves and \"w\" lets requests wait"});
}

TEST_CASE("a limit that only looks on may stand beside any other") {
    check_added(
        "limits:\n"
        "  r: {requests: 1, per: 1s, retry_after: reserve}\n"
        "  w: {concurrent: 1, when_exceeded: wait, enforce: false}\n"
        "routes:\n"
        "  - {name: a, upstream: shop, match: {path: /a}, limits: [r, w]}\n",
        {});
}

} // namespace stint::config
