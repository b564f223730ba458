// What routes change of heads and paths, and what is answered without an upstream.
#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

std::string request(std::string_view target, std::string_view fields = "") {
    return std::string{"GET "}
        .append(target)
        .append(" HTTP/1.1\r\nHost: Shop.example:81\r\n")
        .append(fields)
        .append("\r\n");
}

// The first line of what the upstream gets.
std::string forwarded(InProcessGateway& gateway, std::string_view target) {
    Wire client = gateway.connect();
    client.send(request(target));
    Wire upstream = gateway.upstream.accept();
    const std::string head = upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    read_response(client);
    return head.substr(0, head.find("\r\n"));
}

std::string answer(InProcessGateway& gateway, std::string_view text) {
    Wire client = gateway.connect();
    client.send(text);
    return client.read_head();
}

} // namespace

TEST_CASE("a response is shaped, and its connections are kept") {
    InProcessGateway gateway{
        "routes: [{name: all, upstream: origin, response: {set_headers: {X-From: '{route} {host}'},"
        " remove_headers: [Server]}}]"};
    Wire client = gateway.connect();
    client.send(request("/"));
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\nServer: x\r\nX-From: y\r\nContent-Length: 2\r\n\r\nhi");

    const std::string response = read_response(client);
    gateway.settle();

    CHECK(has(response, "\r\nX-From: all shop.example\r\n"));
    CHECK_FALSE(has(response, "Server"));
    CHECK_FALSE(has(response, "X-From: y"));
    CHECK(gateway.pooled() == 1);
}

TEST_CASE("an answer of the gateway's own is not shaped as a response") {
    InProcessGateway gateway{
        "limits: {none: {requests: 1, per: 1h, key: client_ip, deny: [127.0.0.1]}}\n"
        "routes: [{name: all, upstream: origin, limits: [none],"
        " response: {set_headers: {X-From: a}}}]"};

    const std::string refusal = answer(gateway, request("/"));

    CHECK(refusal.starts_with("HTTP/1.1 403 "));
    CHECK_FALSE(has(refusal, "X-From"));
}

TEST_CASE("a stripped prefix is that of the path which was routed by") {
    InProcessGateway gateway{
        "routes: [{name: api, match: {path: /api}, upstream: origin, strip_prefix: /api}]"};

    CHECK(forwarded(gateway, "/api") == "GET / HTTP/1.1");
    CHECK(forwarded(gateway, "/api?a=b") == "GET /?a=b HTTP/1.1");
    CHECK(forwarded(gateway, "/api/a%2fb/?") == "GET /a%2Fb/? HTTP/1.1");
    CHECK(forwarded(gateway, "/api/a%3ab%28") == "GET /a%3Ab%28 HTTP/1.1");
    CHECK(forwarded(gateway, "/x/../%61pi//a") == "GET /a HTTP/1.1");
    gateway.reload(
        "absolute_form: route\n"
        "routes: [{name: api, match: {path: /api}, upstream: origin, strip_prefix: /api}]");
    CHECK(forwarded(gateway, "http://a/api/b") == "GET /b HTTP/1.1");
}

TEST_CASE("no spelling of a path reaches above what is stripped") {
    InProcessGateway gateway{
        "routes: [{name: api, match: {path: /api}, upstream: origin, strip_prefix: /api}]"};

    for (const char* const target :
         {"/api/..%2fsecret", "/api/a/..%2f..%2fapi/b", "/api/;/..", "/api%2fa"}) {
        CAPTURE(target);
        const std::string head = answer(gateway, request(target));
        CHECK((head.starts_with("HTTP/1.1 400 ") || head.starts_with("HTTP/1.1 404 ")));
    }
    CHECK_FALSE(gateway.upstream.called());
}

TEST_CASE("a path is rewritten by a regular expression") {
    InProcessGateway gateway{
        "routes: [{name: items, match: {path_regex: '/items/[0-9]+'}, upstream: origin,"
        " rewrite: {regex: '/items/(.*)', to: '/v2/\\1/show'}}]"};

    CHECK(forwarded(gateway, "/items/17?a") == "GET /v2/17/show?a HTTP/1.1");
    CHECK(answer(gateway, request("/items/x")).starts_with("HTTP/1.1 404 "));
    CHECK(answer(gateway, request("/items/1;x")).starts_with("HTTP/1.1 400 "));
    CHECK(answer(gateway, request("/items/1%2f2")).starts_with("HTTP/1.1 404 "));
}

TEST_CASE("a path that a regular expression would cut in an escape is refused") {
    InProcessGateway gateway{"routes: [{name: go, match: {path: /go}, upstream: origin,"
                             " rewrite: {regex: '/go/(%)25(.*)|/go/(.*)', to: '/v2/\\1\\2\\3'}}]"};

    CHECK(forwarded(gateway, "/go/%C3%A9") == "GET /v2/%C3%A9 HTTP/1.1");
    CHECK(forwarded(gateway, "/go/a%252F") == "GET /v2/a%252F HTTP/1.1");
    CHECK(answer(gateway, request("/go/%252E%252E")).starts_with("HTTP/1.1 400 "));
    CHECK(answer(gateway, request("/go/%254")).starts_with("HTTP/1.1 400 "));
}

TEST_CASE("a path that servers may take for one of a regular expression's is refused") {
    InProcessGateway gateway{
        "limits: {none: {requests: 1, per: 1h, key: client_ip, deny: [127.0.0.1]}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin},"
        " {name: closed, match: {path_regex: '/items/[0-9]+(/.*)?'}, upstream: origin,"
        " limits: [none]}]"};

    CHECK(answer(gateway, request("/items/1")).starts_with("HTTP/1.1 403 "));
    CHECK(answer(gateway, request("/items%2f1")).starts_with("HTTP/1.1 400 "));
    CHECK(answer(gateway, request("/items/1;x")).starts_with("HTTP/1.1 400 "));
    CHECK(answer(gateway, request("/items/%31")).starts_with("HTTP/1.1 403 "));
    CHECK(answer(gateway, request("/x/../items//1")).starts_with("HTTP/1.1 403 "));
}

TEST_CASE("a route's host goes before its upstream's") {
    InProcessGateway gateway{
        "routes: [{name: a, match: {path: /a}, upstream: origin, host: b.example},"
        " {name: k, match: {path: /k}, upstream: origin, host: keep}]"};
    Wire client = gateway.connect();
    client.send(request("/a"));
    Wire upstream = gateway.upstream.accept();

    CHECK(has(upstream.read_head(), "\r\nHost: b.example\r\n"));
    upstream.send(ok);
    read_response(client);
    client.send(request("/k"));
    CHECK(has(upstream.read_head(), "\r\nHost: Shop.example:81\r\n"));
}

TEST_CASE("a fixed answer needs no upstream, and keeps the connection") {
    InProcessGateway gateway{"routes: [{name: hello, respond: {status: 201, body: 'hi {client_ip}',"
                             " headers: {X-A: '{host}'}}}]"};
    Wire client = gateway.connect();

    for (int i = 0; i < 2; ++i) {
        client.send(request("/"));
        const std::string response = read_response(client, 12);
        CHECK(response.starts_with("HTTP/1.1 201 Created\r\nServer: stint\r\n"));
        CHECK(has(response, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
        CHECK(has(response, "\r\nX-A: shop.example\r\n"));
        CHECK(response.ends_with("\r\n\r\nhi 127.0.0.1"));
    }
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(has(client.read_head(), "\r\nContent-Length: 12\r\n"));
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    CHECK(read_response(client, 12).ends_with("hi 127.0.0.1"));

    gateway.settle();
    CHECK_FALSE(client.closed());
    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.ended(Outcome::responded, 2) == 4);
}

TEST_CASE("limits come before a fixed answer") {
    InProcessGateway gateway{
        "limits: {two: {requests: 2, per: 1h}, slot: {concurrent: 1}}\n"
        "routes: [{name: hello, limits: [two, slot], respond: {status: 204}}]"};
    Wire client = gateway.connect();

    for (const char* const status : {"204", "204", "429"}) {
        client.send(request("/"));
        CHECK(client.read_head().starts_with(std::string{"HTTP/1.1 "}.append(status)));
    }
    gateway.settle();
    CHECK(gateway.ended(Outcome::responded, 2) == 2);
    CHECK(gateway.ended(Outcome::refused, 4) == 1);
}

TEST_CASE("a request that has waited for its turn gets its fixed answer") {
    InProcessGateway gateway{
        "limits: {one: {requests: 1, per: 10ms, anchor: first_request, when_exceeded: wait,"
        " max_wait: 1h}}\n"
        "routes: [{name: hello, limits: [one], respond: {status: 204}}]"};
    Wire client = gateway.connect();
    client.send(request("/"));
    CHECK(client.read_head().starts_with("HTTP/1.1 204 "));
    client.send(request("/"));
    gateway.settle();
    std::string head;
    gateway.run_until([&] {
        gateway.open();
        return gateway.ended(Outcome::responded, 2) == 2;
    });

    CHECK(client.read_head().starts_with("HTTP/1.1 204 "));
}

TEST_CASE("a redirect tells path and query as they were routed by") {
    InProcessGateway gateway{
        "routes: [{name: old, match: {path: /old}, redirect: 'https://{host}{path}{?query}'},"
        " {name: short, match: {path: /s}, strip_prefix: /s, redirect: {to: '{path}',"
        " status: 302}}]"};

    CHECK(
        has(answer(gateway, request("/old/a|b?c=d")),
            "\r\nLocation: https://shop.example/old/a%7Cb?c=d\r\n"));
    CHECK(answer(gateway, request("/old")).starts_with("HTTP/1.1 308 Permanent Redirect\r\n"));
    CHECK(has(answer(gateway, request("/x/../old")), "\r\nLocation: https://shop.example/old\r\n"));
    const std::string moved = answer(gateway, request("/s//evil.example/a"));
    CHECK(moved.starts_with("HTTP/1.1 302 Found\r\n"));
    CHECK(has(moved, "\r\nLocation: /evil.example/a\r\n"));
}

TEST_CASE("a redirect to its own host needs one") {
    InProcessGateway gateway{"routes: [{name: r, redirect: 'https://{host}/'}]"};

    const std::string head = answer(gateway, "GET / HTTP/1.0\r\n\r\n");

    CHECK(head.starts_with("HTTP/1.1 400 "));
}

TEST_CASE("a plain listener sends everything to https, before routes and limits") {
    InProcessGateway gateway{
        "limits: {none: {requests: 1, per: 1h, key: client_ip, deny: [127.0.0.1]}}\n"
        "routes: [{name: all, upstream: origin, limits: [none]}]",
        {.https_port = 443}};

    const std::string head = answer(gateway, request("/a//b?c"));
    CHECK(head.starts_with("HTTP/1.1 308 Permanent Redirect\r\n"));
    CHECK(has(head, "\r\nLocation: https://shop.example/a//b?c\r\n"));
    CHECK(
        has(answer(gateway, "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"),
            "\r\nLocation: https://[::1]/\r\n"));
    CHECK(
        has(answer(gateway, "GET http://b.example?c HTTP/1.1\r\nHost: a\r\n\r\n"),
            "\r\nLocation: https://b.example/?c\r\n"));
    CHECK(answer(gateway, "GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 400 "));
    CHECK(answer(gateway, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
    gateway.settle();
    CHECK(gateway.ended(Outcome::responded, 3) == 3);
}

TEST_CASE("https may have another port") {
    InProcessGateway gateway{plain, {.https_port = 8443}};

    CHECK(has(answer(gateway, request("/a")), "\r\nLocation: https://shop.example:8443/a\r\n"));
}
