// What a configuration sets and removes, where it meets what HTTP says of fields.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

const std::string request_shaped =
    "routes: [{name: all, match: {path: /}, upstream: origin, request: {"
    "set_headers: {X-Tenant: shop}, remove_headers: [Cookie]}}]\n";
const std::string response_shaped =
    "routes: [{name: all, match: {path: /}, upstream: origin, response: {"
    "set_headers: {X-Tenant: shop}, remove_headers: [Server, Link]}}]\n";

Row sent(std::string name, std::string source, std::string client, std::string seen) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = std::move(client),
        .upstream_saw = std::move(seen),
        .client_got = ok,
        .config = request_shaped};
}
Row got(std::string name, std::string source, std::string answered, std::string client_got) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = get,
        .upstream_saw = get,
        .client_got = std::move(client_got),
        .answers = {std::move(answered)},
        .config = response_shaped};
}

const Rows requests{
    sent(
        "what is set replaces all that the client sent of it",
        "configuration.md",
        with("X-Tenant: a", "x-tenant: b", "X-B: c"),
        with("X-B: c", "X-Tenant: shop")),
    with_http2(
        sent(
            "Connection cannot name away what is set",
            "RFC 9110 7.6.1",
            with("Connection: X-Tenant, X-B", "X-Tenant: a", "X-B: c"),
            with("X-Tenant: shop")),
        malformed_in_http2),
    sent(
        "what reads as a field that is set ends here",
        "RFC 3875 4.1.18",
        with("X_Tenant: a", "x_TENANT: b"),
        with("X-Tenant: shop")),
    sent(
        "what is removed is so however often and however spelt",
        "RFC 9110 5.1",
        with("Cookie: a", "X-B: c", "cookie: d"),
        with("X-B: c", "X-Tenant: shop")),
    sent(
        "a body's framing stands behind what is set",
        "RFC 9112 6.2",
        post("abc", "Content-Length: 3", "Cookie: a"),
        head("POST / HTTP/1.1", "Host: a", "X-Tenant: shop", "Content-Length: 3") & "abc"),
};

const Rows responses{
    got("what is set replaces all that the upstream sent of it",
        "configuration.md",
        head("HTTP/1.1 200 OK", "X-Tenant: a", "x-tenant: b", "Content-Length: 2") & "hi",
        head("HTTP/1.1 200 OK", "X-Tenant: shop", "Content-Length: 2") & "hi"),
    got("a chunked response stays one",
        "RFC 9112 7.1",
        head("HTTP/1.1 200 OK", "Server: a", "Transfer-Encoding: chunked") & "2\r\nhi\r\n0\r\n\r\n",
        head("HTTP/1.1 200 OK", "X-Tenant: shop", "Transfer-Encoding: chunked") & "hi<0>"),
    got("an interim response gets nothing, and loses what is removed",
        "RFC 9110 15.2",
        head("HTTP/1.1 103 Early Hints", "Link: </a>", "X-B: c") & ok,
        head("HTTP/1.1 103 Early Hints", "X-B: c") &
            (head("HTTP/1.1 200 OK", "X-Tenant: shop", "Content-Length: 2") & "hi")),
    got("a response without content is shaped alike",
        "RFC 9110 15.3.5",
        head("HTTP/1.1 204 No Content", "Server: a"),
        head("HTTP/1.1 204 No Content", "X-Tenant: shop")),
};

} // namespace

TEST_CASE("shaped requests") {
    play(requests);
}

TEST_CASE("shaped responses") {
    play(responses);
}
