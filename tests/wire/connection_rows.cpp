// Connections that end early, are silent or change their protocol.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

const std::string nothing;

const Rows upstreams{
    {.name = "an upstream that closes instead of answering",
     .source = "RFC 9110 15.6.3",
     .client = post("", "Content-Length: 0"),
     .upstream_saw = post("", "Content-Length: 0"),
     .client_got = "<502>",
     .answers = {nothing},
     .upstream_ends = Row::End::close},
    {.name = "an upstream that resets instead of answering",
     .source = "RFC 9110 15.6.3",
     .client = post("", "Content-Length: 0"),
     .upstream_saw = post("", "Content-Length: 0"),
     .client_got = "<502>",
     .answers = {nothing},
     .upstream_ends = Row::End::reset},
    {.name = "an upstream that closes in the middle of its head",
     .source = "RFC 9112 8; RFC 9110 15.6.3",
     .client = get,
     .upstream_saw = get,
     .client_got = "<502>",
     .answers = {"HTTP/1.1 200 OK\r\nContent-Le"},
     .upstream_ends = Row::End::close},
    {.name = "an upstream that is silent",
     .source = "RFC 9110 15.6.5",
     .client = get,
     .upstream_saw = get,
     .client_got = "<504>",
     .answers = {nothing},
     .passes = std::chrono::seconds{61}},
    {.name = "an upstream that is silent in the middle of its head",
     .source = "RFC 9110 15.6.5",
     .client = get,
     .upstream_saw = get,
     .client_got = "<504>",
     .answers = {"HTTP/1.1 200 OK\r\n"},
     .passes = std::chrono::seconds{61}},
};

const std::string offer = head(
    "GET /chat HTTP/1.1",
    "Host: a",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==",
    "Connection: Upgrade",
    "Upgrade: websocket");
const std::string switched =
    head("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket");
const std::string no_offer =
    head("GET /chat HTTP/1.1", "Host: a", "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==");

const Row::OverHttp2 websockets = left_out(
    "RFC 8441 5: the gateway makes the key, and checks it; tests/system/test_tunnels_http2.py");

const Rows tunnels{
    {.name = "a WebSocket is offered, taken and carried both ways",
     .source = "RFC 9110 7.8; RFC 6455 4",
     .client = offer,
     .upstream_saw = offer & "ping",
     .client_got = switched & "",
     .then = "ping",
     .answers = {switched},
     .tunnel = true,
     .http2 = websockets},
    {.name = "what the upstream sends with its 101 is the tunnel's",
     .source = "RFC 9110 7.8",
     .client = offer,
     .upstream_saw = offer,
     .client_got = switched & "HTTP/1.1 200 not an answer\r\n\r\n",
     .answers = {switched & "HTTP/1.1 200 not an answer\r\n\r\n"},
     .tunnel = true,
     .http2 = websockets},
    {.name = "what the client sends with its request is the tunnel's, once there is one",
     .source = "RFC 9110 7.8",
     .client = offer & "GET /not/a/request HTTP/1.1\r\n\r\n",
     .upstream_saw = offer & "GET /not/a/request HTTP/1.1\r\n\r\n",
     .client_got = switched,
     .answers = {switched},
     .tunnel = true,
     .http2 = websockets},
    {.name = "an upstream need not switch, and the connection goes on",
     .source = "RFC 9110 7.8",
     .client = offer,
     .upstream_saw = offer & get,
     .client_got = ok & ok,
     .then = get,
     .http2 = websockets},
    {.name = "a refused offer leaves what follows a request",
     .source = "RFC 9110 7.8, 15.5.22",
     .client = offer & get,
     .upstream_saw = offer & get,
     .client_got = head("HTTP/1.1 426 Upgrade Required", "Content-Length: 0") & ok,
     .answers = {head("HTTP/1.1 426 Upgrade Required", "Content-Length: 0"), ok},
     .http2 = websockets},
    {.name = "a protocol that the route does not allow is not offered",
     .source = "RFC 9110 7.8",
     .client = head(
         "GET /chat HTTP/1.1",
         "Host: a",
         "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==",
         "Connection: Upgrade",
         "Upgrade: telepathy"),
     .upstream_saw = no_offer,
     .client_got = ok,
     .http2 = websockets},
    {.name = "of several protocols those that the route allows are offered",
     .source = "RFC 9110 7.8",
     .client = head(
         "GET /chat HTTP/1.1",
         "Host: a",
         "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==",
         "Connection: keep-alive, upgrade",
         "Upgrade: h2c, websocket"),
     .upstream_saw = offer,
     .client_got = ok,
     .http2 = websockets},
    {.name = "HTTP/1.0 cannot switch",
     .source = "RFC 9110 7.8",
     .client = head("GET / HTTP/1.0", "Host: a", "Connection: Upgrade", "Upgrade: websocket"),
     .upstream_saw = head("GET / HTTP/1.1", "Host: a", "Via: 1.0 stint"),
     .client_got = head("HTTP/1.1 200 OK", "Content-Length: 2", "Connection: close") & "hi<end>",
     .http2 = no_old_version},
    {.name = "a request with a body does not offer to switch",
     .source = "RFC 9110 7.8 (its body would have to be read first)",
     .client = post("hi", "Content-Length: 2", "Connection: Upgrade", "Upgrade: websocket"),
     .upstream_saw = post("hi", "Content-Length: 2"),
     .client_got = ok,
     .http2 = websockets},
    {.name = "a switch to what was not offered is refused",
     .source = "RFC 9110 7.8",
     .client = offer,
     .upstream_saw = offer,
     .client_got = "<502>",
     .answers = {head(
         "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: telepathy")},
     .http2 = websockets},
    {.name = "a switch that names no protocol is refused",
     .source = "RFC 9110 7.8",
     .client = offer,
     .upstream_saw = offer,
     .client_got = "<502>",
     .answers = {head("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade")},
     .http2 = websockets},
    {.name = "a tunnel ends with its client",
     .source = "RFC 6455 7.1.1",
     .client = offer,
     .upstream_saw = offer,
     .answers = {switched},
     .client_ends = Row::End::close,
     .tunnel = true,
     .http2 = websockets},
    {.name = "a tunnel ends with its upstream",
     .source = "RFC 6455 7.1.1",
     .client = offer,
     .upstream_saw = offer,
     .client_got = switched & "bye<end>",
     .answers = {switched & "bye"},
     .upstream_ends = Row::End::close,
     .tunnel = true,
     .http2 = websockets},
    {.name = "a tunnel without a byte ends",
     .source = "docs/configuration.md (tunnel_idle)",
     .client = offer,
     .upstream_saw = offer,
     .client_got = switched & "<end>",
     .answers = {switched},
     .passes = std::chrono::minutes{11},
     .tunnel = true,
     .http2 = websockets},
    {.name = "Upgrade is not passed on where the route says off",
     .source = "docs/configuration.md (upgrade)",
     .client = offer,
     .upstream_saw = no_offer,
     .client_got = ok,
     .config = "routes: [{name: all, match: {path: /}, upstream: origin, upgrade: off}]",
     .http2 = websockets},
};

const std::string te = "Transfer-Encoding: chunked";
const std::string asks = with("Connection: TE", "TE: trailers");

Row trailing(
    std::string name, std::string source, std::string_view trailers, std::string_view got) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = asks,
        .upstream_saw = asks,
        .client_got = head("HTTP/1.1 200 OK", te) & "hi<0>" & got,
        .answers = {head("HTTP/1.1 200 OK", te) & "2\r\nhi\r\n0\r\n" & trailers & "\r\n"}};
}
Row trailer_ends_here(std::string name, std::string source, std::string_view line) {
    return trailing(
        std::move(name), std::move(source), std::string{line}.append("\r\nX-Sum: 1\r\n"),
        "X-Sum: 1\r\n");
}

const Rows trailers{
    trailing(
        "trailers go to a client that asks for them",
        "RFC 9110 6.5, 10.1.4",
        "X-Sum: 1\r\nX-Time: 2\r\n",
        "X-Sum: 1\r\nX-Time: 2\r\n"),
    trailing("there may be none", "RFC 9112 7.1.2", "", ""),
    trailer_ends_here("a length as a trailer ends here", "RFC 9110 6.5.1", "Content-Length: 5"),
    trailer_ends_here(
        "a coding as a trailer ends here", "RFC 9110 6.5.1", "Transfer-Encoding: chunked"),
    trailer_ends_here("a cookie as a trailer ends here", "RFC 9110 6.5.1", "Set-Cookie: a=b"),
    trailer_ends_here(
        "cache control as a trailer ends here", "RFC 9110 6.5.1", "Cache-Control: public"),
    trailer_ends_here("Connection as a trailer ends here", "RFC 9110 6.5.1", "Connection: close"),
    trailer_ends_here("Location as a trailer ends here", "RFC 9110 6.5.1", "Location: /"),
    trailer_ends_here("Retry-After as a trailer ends here", "RFC 9110 6.5.1", "Retry-After: 1"),
    trailer_ends_here(
        "WWW-Authenticate as a trailer ends here", "RFC 9110 6.5.1", "WWW-Authenticate: Basic"),
    {.name = "TE that Connection does not name ends here, but has been heard",
     .source = "RFC 9110 10.1.4",
     .client = with("TE: trailers"),
     .upstream_saw = get,
     .client_got = head("HTTP/1.1 200 OK", te) & "hi<0>X-Sum: 1\r\n",
     .answers = {head("HTTP/1.1 200 OK", te) & "2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n"},
     .http2 = {.why = "RFC 9113 8.2.2: it needs no Connection", .upstream_saw = asks}},
    {.name = "trailers of a request end here: no upstream has asked for them",
     .source = "RFC 9110 6.5.1",
     .client = post("2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n", te, "Trailer: X-Sum"),
     .upstream_saw = post("hi<0>", te),
     .client_got = ok},
};

} // namespace

TEST_CASE("tunnels") {
    play(tunnels);
}

TEST_CASE("trailers") {
    play(trailers);
}

TEST_CASE("upstreams that fail") {
    play(upstreams);
}
