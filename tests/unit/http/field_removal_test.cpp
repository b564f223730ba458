// Which fields are forwarded, and which end here.
#include "rewrite_support.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace stint;
using namespace stint::http;
using namespace stint::http::test;

} // namespace

TEST_CASE("hop-by-hop fields of a request are removed") {
    const std::string head = upstream(test::get_with(
        "Connection: keep-alive, Upgrade, HTTP2-Settings, TE\r\nKeep-Alive: 5\r\nTE: trailers\r\n"
        "Trailer: X\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\nProxy-Connection: keep-alive\r\n"
        "Proxy-Authorization: Basic x\r\nExpect: 100-continue\r\nX-Kept: yes\r\n"));

    for (const std::string_view name :
         {"Connection", "Keep-Alive", "TE", "Trailer", "Upgrade", "HTTP2-Settings",
          "Proxy-Connection", "Proxy-Authorization", "Expect"}) {
        CAPTURE(name);
        CHECK(count(head, name) == 0);
    }
    CHECK(has(head, "X-Kept: yes"));
}

TEST_CASE("fields that any Connection field names are removed") {
    const std::string head = upstream(test::get_with(
        "X-A: 1\r\nConnection: close, x-a\r\nX-B: 2\r\nConnection: ,X-B ,\r\nX-C: 3\r\n"));

    CHECK(count(head, "X-A") == 0);
    CHECK(count(head, "X-B") == 0);
    CHECK(has(head, "X-C: 3"));
}

TEST_CASE("Connection cannot name away what identifies or frames a request") {
    const std::string head = upstream(test::get_with(
        "Connection: Host, Content-Length, Transfer-Encoding, X-Forwarded-For, X-Forwarded-Host\r\n"
        "Connection: X-Forwarded-Proto, Via, Cookie, Authorization, X-Request-Id, X-Gone\r\n"
        "Content-Length: 3\r\nCookie: a=b\r\nAuthorization: Basic x\r\nVia: 1.1 a\r\n"
        "X-Gone: 1\r\n"));

    CHECK(has(head, "Host: a.example"));
    CHECK(has(head, "Content-Length: 3"));
    CHECK(has(head, "X-Forwarded-For: 192.0.2.7"));
    CHECK(has(head, "X-Forwarded-Host: a.example"));
    CHECK(has(head, "X-Forwarded-Proto: http"));
    CHECK(has(head, "Via: 1.1 a, 1.1 stint"));
    CHECK(has(head, "Cookie: a=b"));
    CHECK(has(head, "Authorization: Basic x"));
    CHECK(has(head, "X-Request-Id: id-1"));
    CHECK(count(head, "X-Gone") == 0);
}

TEST_CASE("Connection cannot name away what a limit counts by") {
    const std::vector<std::string> names{"x-api-key"};
    Forwarding with = forwarding;
    with.protected_fields = names;
    const std::string request =
        test::get_with("Connection: X-Api-Key, X-Forwarded-Port, X-Gone\r\n"
                       "X-Api-Key: k\r\nX-Forwarded-Port: 1\r\nX-Gone: 3\r\n");

    const std::string head = upstream(request, with);

    CHECK(has(head, "X-Api-Key: k"));
    CHECK(has(head, "X-Forwarded-Port: 1"));
    CHECK(count(head, "X-Gone") == 0);
    CHECK(count(upstream(request), "X-Api-Key") == 0);
}

TEST_CASE("Proxy and every Proxy- field end here") {
    const std::string request = upstream(test::get_with(
        "Proxy: http://evil\r\nproxy-x: 1\r\nProxy-Authorization: a\r\nProxy-Features: b\r\n"
        "Proxies: kept\r\n"));
    const std::string response = downstream(response_with(
        "Proxy-X: 1\r\nProxy-Authentication-Info: 2\r\nContent-Length: 0\r\nProxies: kept\r\n"));

    for (const std::string& head : {request, response}) {
        CHECK_FALSE(has(head, "Proxy: http://evil"));
        CHECK(head.find("roxy-") == std::string::npos);
        CHECK(has(head, "Proxies: kept"));
    }
}

TEST_CASE("a name that a server may take for one of the gateway's is removed") {
    const std::vector<std::string> names{"x-api-key", "x_own"};
    Forwarding with = forwarding;
    with.protected_fields = names;
    for (const std::string_view name :
         {"X_Forwarded_For", "x_forwarded-proto", "X-Forwarded_Port", "Content_Length",
          "TRANSFER_ENCODING", "X_Stint_Ticket", "X_Request_ID", "Proxy_Authorization",
          "Keep_Alive", "HTTP2_Settings", "X_Api_Key", "X-Own"}) {
        CAPTURE(name);
        const bool kept = name == "X-Own"; // nobody reads "-" as "_"
        const std::string head =
            upstream(test::get_with(std::string{name} + ": 1\r\nA_b: 2\r\n"), with);

        CHECK(count(head, name) == (kept ? 1 : 0));
        CHECK(has(head, "A_b: 2"));
    }
    CHECK(has(upstream(test::get_with("X_Own: 1\r\n"), with), "X_Own: 1"));
    CHECK_FALSE(has(downstream(response_with("Content_Length: 1\r\n")), "Content_Length"));
    CHECK(has(downstream(response_with("X_Api_Key: 1\r\n")), "X_Api_Key: 1"));
    CHECK(count(upstream(test::get_with("Connection: a_b\r\nA_b: 1\r\n"), with), "A_b") == 0);
}

TEST_CASE("Forwarded is written where it is asked for") {
    const auto line = [](Forwarding with, std::string_view host = "a.example") {
        with.forwarded = true;
        const std::string head = upstream(
            "GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\nForwarded: for=6.6.6.6\r\n\r\n",
            with);
        const std::size_t at = head.find("\r\nForwarded: ") + 2;
        CHECK(count(head, "Forwarded") == 1);
        return head.substr(at, head.find("\r\n", at) - at);
    };
    Forwarding trusted = forwarding;
    trusted.peer_is_trusted = true;

    CHECK(line(forwarding) == "Forwarded: for=192.0.2.7;host=a.example;proto=http");
    CHECK(line(forwarding, "a:80") == "Forwarded: for=192.0.2.7;host=\"a:80\";proto=http");
    CHECK(line(forwarding, "[::1]") == "Forwarded: for=192.0.2.7;host=\"[::1]\";proto=http");
    CHECK(line(forwarding, "") == "Forwarded: for=192.0.2.7;proto=http");
    CHECK(
        line({"2001:db8::1", "http", "in", "id"}) ==
        "Forwarded: for=\"[2001:db8::1]\";host=a.example;proto=http");
    CHECK(line({"", "http", "", "id"}) == "Forwarded: for=unknown;host=a.example;proto=http");
    CHECK(line(trusted) == "Forwarded: for=6.6.6.6, for=192.0.2.7;host=a.example;proto=http");
}

TEST_CASE("what is offered and taken goes upstream as our own fields") {
    const std::string request = get_with(
        "Connection: Upgrade, TE, X-Gone\r\nUpgrade: h2c, websocket\r\nTE: gzip, trailers\r\n"
        "X-Gone: 1\r\nSec-WebSocket-Key: k\r\n");
    Forwarding with = forwarding;
    with.upgrade = "websocket";
    CHECK(has(upstream(request, with), "Connection: Upgrade\r\nUpgrade: websocket"));
    with.trailers = true;
    const std::string both = upstream(request, with);
    CHECK(has(both, "Connection: Upgrade, TE\r\nUpgrade: websocket\r\nTE: trailers"));
    CHECK(has(both, "Sec-WebSocket-Key: k"));
    CHECK(count(both, "X-Gone") == 0);
    with.upgrade = "";
    CHECK(has(upstream(request, with), "Connection: TE\r\nTE: trailers"));
}
