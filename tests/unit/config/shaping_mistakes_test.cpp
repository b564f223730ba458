// Mistakes in what routes and upstreams change of heads and paths, and in what routes answer.
#include "config_support.hpp"

namespace stint::config {

namespace {

// `rest` stands at 3:20.
void check_route(
    std::string_view rest,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added("routes: [{name: r, " + std::string{rest} + "}]\n", expected, at);
}

} // namespace

TEST_CASE("fields can be set and removed both ways") {
    check_route(
        "upstream: shop, request: {set_headers: {X-A: b, X-Ip: \"{client_ip}\"}, remove_headers: "
        "[Cookie]}",
        {});
    check_route(
        "upstream: shop, response: {set_headers: {Cache-Control: \"max-age=60, public\"}, "
        "remove_headers: [Server, X-A]}",
        {});
}

TEST_CASE("what frames messages, or Stint says itself, is not set or removed") {
    check_route(
        "upstream: shop, request: {set_headers: {Host: a}}",
        {"3:60: routes[0].request.set_headers.Host: \"Host\" is left to Stint: it frames messages, "
         "or "
         "is written or removed anyway; use host"});
    check_route(
        "upstream: shop, request: {remove_headers: [Content-Length, te, X_Forwarded_For, Via]}",
        {"3:63: routes[0].request.remove_headers[0]: \"Content-Length\" is left to Stint",
         "3:79: \"te\" is left", "3:83: \"X_Forwarded_For\" is left", "3:100: \"Via\" is left"});
    check_route(
        "upstream: shop, request: {set_headers: {X-Request-Id: a, Proxy-Authorization: b, "
        "X-Stint-Ticket: c}}",
        {"3:60: \"X-Request-Id\" is left", "3:77: \"Proxy-Authorization\" is left",
         "3:101: \"X-Stint-Ticket\" is left"});
    check_route(
        "upstream: shop, response: {set_headers: {Retry-After: 1, RateLimit-Policy: b, "
        "X-RateLimit-Limit: c, Date: d}}",
        {"3:61: \"Retry-After\" is left", "3:77: \"RateLimit-Policy\" is left",
         "3:98: \"X-RateLimit-Limit\" is left", "3:120: \"Date\" is left"});
    check_route(
        "upstream: shop, response: {remove_headers: [transfer-encoding, Connection, "
        "Content_Length]}",
        {"3:64: \"transfer-encoding\" is left", "3:83: \"Connection\" is left",
         "3:95: \"Content_Length\" is left"});
    check_route("upstream: shop, request: {set_headers: {Retry-After: 1, Server: x}}", {});
}

TEST_CASE("a field is named once, by a token") {
    check_route(
        "upstream: shop, request: {set_headers: {X-A: b, x_a: c}}",
        {"3:68: \"x_a\" is set or removed already"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: b}, remove_headers: [x-a, x-b, x-b]}",
        {"3:86: \"x-a\" is set or removed already", "3:96: \"x-b\" is set or removed already"});
    check_route(
        "upstream: shop, request: {set_headers: {\"X A\": b}, remove_headers: [\"b:\"]}",
        {"3:60: \"X A\" is not the name of a header", "3:88: \"b:\" is not the name of a header"});
    check_route("upstream: shop, request: {add_headers: {A: b}}", {"3:46: add_headers"});
    check_route("upstream: shop, request: [a]", {"3:45: found a list; expected a map such as"});
}

TEST_CASE("a mistake in a field's value does not print it: it may be a secret") {
    for (const std::string_view value : {"s3cret ", "s3cret\\t"}) {
        const auto loaded = load_text(
            "routes: [{name: r, request: {set_headers: {X-A: \"" + std::string{value} + "\"}}}]\n",
            "test");
        REQUIRE_FALSE(loaded.has_value());
        for (const auto& mistake : loaded.error())
            CHECK(mistake.text().find("s3cret") == std::string::npos);
    }
}

TEST_CASE("a field's value is printable ASCII with known placeholders") {
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \"a\\r\\nB: c\"}}",
        {"3:65: has a line end, another control character or one beyond ASCII"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \"a\\0\"}}", {"3:65: has a line end"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \"a\\tb\"}}", {"3:65: has a line end"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \"\\u00e9\"}}", {"3:65: beyond ASCII"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \"\"}}",
        {"3:65: is empty; to leave a field out, name it in remove_headers"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \" a\"}}",
        {"3:65: has a blank at its beginning or end"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \"{clientip}\"}}",
        {"3:65: {clientip} is no placeholder; did you mean \"{client_ip}\"?"});
    check_route(
        "upstream: shop, request: {set_headers: {X-A: \"{path}\"}}",
        {"3:65: {path} is no placeholder; expected {client_ip}, {host}, {method}, {request_id} or "
         "{route}"});
    check_route("upstream: shop, request: {set_headers: {X-A: \"{}\", X-B: \"{A}{\"}}", {});
}

TEST_CASE("a prefix that is stripped is one of what the route matches") {
    check_route("upstream: shop, match: {path: /api/v1}, strip_prefix: /api", {});
    check_route("upstream: shop, match: {path: /api/}, strip_prefix: /api/", {});
    check_route("upstream: shop, match: {path_exact: /api/a}, strip_prefix: /api", {});
    check_route(
        "upstream: shop, match: {path: /api}, strip_prefix: /ap",
        {"3:71: routes[0].strip_prefix: \"/ap\" is no prefix of the paths that the route matches; "
         "expected one of \"/api\" that ends with a segment"});
    check_route("upstream: shop, strip_prefix: /api", {"3:50: \"/api\" is no prefix of the paths"});
    check_route("upstream: shop, strip_prefix: /", {"3:50: \"/\" would remove nothing"});
    check_route("upstream: shop, strip_prefix: api", {"3:50: \"api\" does not begin with \"/\""});
    check_route(
        "upstream: shop, match: {path_regex: /api/.*}, strip_prefix: /api",
        {"3:80: is not for path_regex; use rewrite: {regex: ..., to: ...}"});
    check_route(
        "upstream: shop, match: {path: /a}, strip_prefix: /a, rewrite: /b",
        {"3:73: excludes strip_prefix; keep one of them"});
}

TEST_CASE("a path is rewritten to a path") {
    check_route("upstream: shop, rewrite: /v2", {});
    check_route(
        "upstream: shop, rewrite: {regex: \"/items/([0-9]+)\", to: \"/v2/\\\\1/show\"}", {});
    check_route("upstream: shop, rewrite: v2", {"3:45: does not begin with \"/\""});
    check_route("upstream: shop, rewrite: \"/a?b\"", {"3:45: has a query or a fragment"});
    check_route(
        "upstream: shop, rewrite: {regex: \"/a(\", to: /b}",
        {"3:53: \"/a(\" is not a regular expression: missing ): /a("});
    check_route(
        "upstream: shop, rewrite: {regex: \"/(a)\", to: \"/\\\\2\"}",
        {"3:65: cannot be filled in: "});
    check_route(
        "upstream: shop, rewrite: {regex: \"/(a)\", to: \"\\\\1\"}",
        {"3:65: does not make a path: \"x\" does not begin with \"/\""});
    check_route(
        "upstream: shop, rewrite: {regex: \"/(a)\", to: \"/\\\\1?b\"}",
        {"3:65: does not make a path: "});
    check_route(
        "upstream: shop, rewrite: {regex: \"/(a)\", to: \"/\\\\\\\\1\"}",
        {"3:65: does not make a path: "});
    check_route(
        "upstream: shop, rewrite: {regex: \"/a\"}",
        {"3:45: to is missing; expected a path such as"});
}

TEST_CASE("a regular expression is right, and can match a path") {
    check_route("upstream: shop, match: {path_regex: \"^/items/[0-9]+$\"}", {});
    check_route(
        "upstream: shop, match: {path_regex: \"/a[b\"}",
        {"3:56: routes[0].match.path_regex: \"/a[b\" is not a regular expression: missing ]: [b"});
    check_route(
        "upstream: shop, match: {path_regex: \"items/.*\"}",
        {"3:56: matches no path: all of it is matched, and paths begin with \"/\""});
    check_route(
        "upstream: shop, match: {path_regex: \"/a b\"}",
        {"3:56: has a character that paths do not have"});
    check_route(
        "upstream: shop, match: {path_regex: /a.*, path: /b}",
        {"3:44: excludes path and path_exact; keep one of them"});
}

TEST_CASE("a route has one of upstream, respond and redirect") {
    check_route(
        "match: {path: /a}", {"3:10: routes[0]: upstream is missing; expected the name of an "
                              "upstream, or respond or redirect"});
    check_route("upstream: shop, respond: {}", {"3:20: excludes respond; keep one of them"});
    check_route("upstream: shop, redirect: /a", {"3:20: excludes redirect; keep one of them"});
    check_route("respond: {}, redirect: /a", {"3:33: excludes respond; keep one of them"});
    check_route(
        "respond: {}, cooldown: {scope: host}, host: a",
        {"3:33: needs an upstream, and the route has none", "3:58: needs an upstream"});
    check_route("respond: {}, rewrite: /a", {"3:33: is not for respond, which sends no path"});
    check_route(
        "redirect: /a, request: {remove_headers: [A]}, upgrade: off",
        {"3:34: needs an upstream", "3:66: needs an upstream"});
}

TEST_CASE("a fixed answer has a status, a body of it and fields") {
    check_route(
        "respond: {status: 503, body: \"{route} is away\", content_type: text/html, headers: "
        "{Retry-After: \"120\", Server: x}}",
        {});
    check_route("respond: {status: 204}", {});
    check_route(
        "respond: {status: 199}",
        {"3:38: \"199\" is too small; expected a whole number from 200 to 599"});
    check_route(
        "respond: {status: 204, body: a}", {"3:43: is not for the status 204, which has none"});
    check_route("respond: {body: \"{clientip}\"}", {"3:36: {clientip} is no placeholder"});
    check_route(
        "respond: {headers: {Content-Type: a/b}}",
        {"3:40: \"Content-Type\" has a key of its own; use content_type"});
    check_route(
        "respond: {headers: {Content-Length: \"3\"}}",
        {"3:40: \"Content-Length\" is left to Stint"});
    check_route("respond: {content_type: html}", {"3:44: \"html\" is not a content type"});
    check_route(
        "respond: hello",
        {"3:29: found the value \"hello\"; expected a map such as {status: 200, body: hello}"});
}

TEST_CASE("a redirect leads to a path or a site") {
    check_route("redirect: \"https://{host}{path}{?query}\"", {});
    check_route("redirect: {to: \"{path}/\", status: 301}", {});
    check_route("redirect: {to: /new}", {});
    check_route("redirect: {to: /new, status: 200}", {"3:49: \"200\" is unknown"});
    check_route("redirect: //evil.example", {"3:30: is no target; expected a path"});
    check_route("redirect: \"https:///a\"", {"3:30: is no target"});
    check_route("redirect: \"https://{path}\"", {"3:30: is no target"});
    check_route("redirect: \"https://{?query}\"", {"3:30: is no target"});
    check_route("redirect: \"http://:80/\"", {"3:30: is no target"});
    check_route("redirect: \"http://a@/\"", {"3:30: is no target"});
    check_route("redirect: \"https://{host}{?query}\"", {});
    check_route("redirect: \"{?query}\"", {"3:30: is no target"});
    check_route("redirect: new", {"3:30: is no target"});
    check_route("redirect: \"javascript:alert(1)\"", {"3:30: is no target"});
    check_route(
        "redirect: \"/a\\r\\nSet-Cookie: b\"",
        {"3:30: has a character that must be percent-encoded"});
    check_route("redirect: \"/{query}\"", {"3:30: {query} is no placeholder"});
    check_route("redirect: {status: 301}", {"3:30: to is missing"});
}

TEST_CASE("a route's host is a host, or the client's") {
    check_route("upstream: shop, host: shop.example:81", {});
    check_route("upstream: shop, host: keep", {});
    check_route("upstream: shop, host: a/b", {"3:42: routes[0].host: \"a/b\" is not a host"});
}

TEST_CASE("an upstream shapes what all its routes send, and may introduce clients") {
    const auto check_upstream = [](std::string_view rest,
                                   std::initializer_list<std::string_view> expected,
                                   std::source_location at = std::source_location::current()) {
        check_mistakes(
            "routes: []\nlisteners: [{address: 1.1.1.1:1}]\nupstreams: {a: {endpoints: [b:1], " +
                std::string{rest} + "}}\n",
            expected, at);
    };
    check_upstream("request: {set_headers: {X-A: b}}, response: {remove_headers: [Server]}", {});
    check_upstream("proxy_protocol: v2", {});
    check_upstream("proxy_protocol: v3", {"3:51: upstreams.a.proxy_protocol: \"v3\" is"});
    check_upstream("request: {set_headers: {Host: b}}", {"3:59: \"Host\" is left to Stint"});
}

TEST_CASE("a field that names the client is left alone") {
    check_mistakes(
        "trusted_proxies: [10.0.0.0/8]\nclient_ip_header: X-Real-Ip\n"
        "listeners: [{address: 1.1.1.1:1}]\nupstreams: {a: {endpoints: [b:1]}}\n"
        "routes: [{name: r, upstream: a, request: {set_headers: {x-real-ip: b}}}]\n",
        {"5:57: \"x-real-ip\" names the client (client_ip_header) and is written by Stint"});
}

TEST_CASE("a listener may send its requests to https") {
    const auto check_listener = [](std::string_view value,
                                   std::initializer_list<std::string_view> expected,
                                   std::source_location at = std::source_location::current()) {
        check_mistakes(
            "routes: []\nlisteners: [{address: 1.1.1.1:1, redirect_http: " + std::string{value} +
                "}]\n",
            expected, at);
    };
    check_listener("true", {});
    check_listener("8443", {});
    check_listener("yes", {"2:49: listeners[0].redirect_http: \"yes\" is not a whole number"});
    check_listener(
        "70000", {"2:49: is too large; expected a whole number from 1 to 65535, or true or false"});
    CHECK(
        loaded("routes: []\nlisteners: [{address: 1.1.1.1:1, redirect_http: true}]\n")
            .listeners[0]
            .https_port == 443);
}

} // namespace stint::config
