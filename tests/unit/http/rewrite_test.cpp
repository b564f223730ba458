#include "rewrite_support.hpp"

#include <doctest/doctest.h>

namespace {

using namespace stint;
using namespace stint::http;
using namespace stint::http::test;
using Kind = BodyFraming::Kind;

std::string first_line(std::string_view head) {
    return std::string{head.substr(0, head.find("\r\n"))};
}

} // namespace

TEST_CASE("a request goes upstream as the gateway spells it") {
    CHECK(
        upstream("GET /a?b HTTP/1.0\r\nAccept:\t*/*  \r\nHost: a.example\r\nX-Y:\r\n\r\n") ==
        "GET /a?b HTTP/1.1\r\n"
        "Host: a.example\r\n"
        "Accept: */*\r\n"
        "X-Y: \r\n"
        "X-Forwarded-For: 192.0.2.7\r\n"
        "X-Forwarded-Proto: http\r\n"
        "X-Forwarded-Host: a.example\r\n"
        "X-Request-Id: id-1\r\n"
        "Via: 1.0 stint\r\n"
        "\r\n");
}

TEST_CASE("the target goes upstream in origin form, its bytes unchanged") {
    const auto target = [](std::string_view line) {
        return first_line(upstream(std::string{line} + " HTTP/1.1\r\nHost: a\r\n\r\n"));
    };

    CHECK(target("GET /%7e/../b//c?") == "GET /%7e/../b//c? HTTP/1.1");
    CHECK(target("GET http://b/x?y") == "GET /x?y HTTP/1.1");
    CHECK(target("GET http://b/x?") == "GET /x? HTTP/1.1");
    CHECK(target("GET http://b") == "GET / HTTP/1.1");
    CHECK(target("GET http://b?y") == "GET /?y HTTP/1.1");
    CHECK(target("OPTIONS *") == "OPTIONS * HTTP/1.1");
    CHECK(target("OPTIONS http://b") == "OPTIONS * HTTP/1.1");
    CHECK(target("OPTIONS http://b/") == "OPTIONS / HTTP/1.1");
}

TEST_CASE("a path that is to be sent instead keeps the target's query") {
    Forwarding with = forwarding;
    with.path = "/x";
    const auto target = [&with](std::string_view line) {
        return first_line(upstream(std::string{line} + " HTTP/1.1\r\nHost: a\r\n\r\n", with));
    };

    CHECK(target("GET /a/../x") == "GET /x HTTP/1.1");
    CHECK(target("GET /a/../x?a/../b?") == "GET /x?a/../b? HTTP/1.1");
    CHECK(target("GET //x?") == "GET /x? HTTP/1.1");
    CHECK(target("GET http://b//x?y") == "GET /x?y HTTP/1.1");
    CHECK(target("OPTIONS http://b//x") == "OPTIONS /x HTTP/1.1");
}

TEST_CASE("an absolute-form target's authority is the upstream's Host") {
    const std::string head = upstream("GET http://b:81/ HTTP/1.1\r\nHost: a\r\n\r\n");

    CHECK(has(head, "Host: b:81"));
    CHECK(count(head, "Host") == 1);
    CHECK(has(head, "X-Forwarded-Host: b:81"));
}

TEST_CASE("what a trusted peer says of the hops before it is kept, and the peer added") {
    Forwarding trusted = forwarding;
    trusted.peer_is_trusted = true;

    const std::string head = upstream(
        test::get_with(
            "X-Forwarded-For: 1.2.3.4\r\nx-forwarded-for: 5.6.7.8\r\nX-Forwarded-Proto: https\r\n"
            "X-Forwarded-Host: shop.example\r\nForwarded: for=1.2.3.4\r\n"),
        trusted);

    CHECK(has(head, "X-Forwarded-For: 1.2.3.4, 5.6.7.8, 192.0.2.7"));
    CHECK(has(head, "X-Forwarded-Proto: https"));
    CHECK(has(head, "X-Forwarded-Host: shop.example"));
    CHECK(has(head, "Forwarded: for=1.2.3.4, for=192.0.2.7"));
    CHECK(count(head, "x-forwarded-for") == 0);
}

TEST_CASE("a trusted peer that says nothing is the first hop") {
    Forwarding trusted{"2001:db8::1", "http", "", "id-1"};
    trusted.peer_is_trusted = true;

    const std::string head = upstream(test::get_with(""), trusted);

    CHECK(has(head, "X-Forwarded-For: 2001:db8::1"));
    CHECK(has(head, "X-Forwarded-Proto: http"));
    CHECK(has(head, "X-Forwarded-Host: a.example"));
    CHECK(count(head, "Forwarded") == 0);
    CHECK(
        has(upstream(test::get_with("Forwarded: for=_a\r\n"), trusted),
            "Forwarded: for=_a, for=\"[2001:db8::1]\""));
}

TEST_CASE("another field that names the client is believed of trusted peers, else replaced") {
    Forwarding other = forwarding;
    other.client_field = "x-real-ip";
    const std::string request = test::get_with("X-Real-IP: 6.6.6.6\r\nX-Other: kept\r\n");

    const std::string replaced = upstream(request, other);
    other.peer_is_trusted = true;
    const std::string kept = upstream(request, other);

    CHECK(count(replaced, "X-Real-IP") == 0);
    CHECK(has(replaced, "x-real-ip: 192.0.2.7"));
    CHECK(has(replaced, "X-Other: kept"));
    CHECK(has(kept, "X-Real-IP: 6.6.6.6"));
    CHECK(count(kept, "x-real-ip") == 0);
}

TEST_CASE("a configured host replaces Host but not X-Forwarded-Host") {
    const std::string head = upstream(test::get_with(""), {"::1", "http", "inner", "id"});

    CHECK(has(head, "Host: inner"));
    CHECK(has(head, "X-Forwarded-Host: a.example"));
}

TEST_CASE("Date, and Max-Forwards that means nothing here, go on unless Connection names them") {
    const std::string fields = "Date: yesterday\r\nMax-Forwards: 3\r\n";

    const std::string kept = upstream(test::get_with(fields));
    CHECK(has(kept, "Date: yesterday"));
    CHECK(has(kept, "Max-Forwards: 3"));

    const std::string named =
        upstream(test::get_with(fields + "Connection: date, Max-Forwards\r\n"));
    CHECK(count(named, "Date") == 0);
    CHECK(count(named, "Max-Forwards") == 0);
}

TEST_CASE("what a client says of its own forwarding is replaced") {
    const std::string head = upstream(test::get_with(
        "X-Forwarded-For: 1.2.3.4\r\nx-forwarded-for: 5.6.7.8\r\nX-Forwarded-Proto: https\r\n"
        "X-Forwarded-Host: evil\r\nForwarded: for=1.2.3.4\r\nX-Request-Id: theirs\r\n"));

    CHECK(count(head, "X-Forwarded-For") == 1);
    CHECK(has(head, "X-Forwarded-For: 192.0.2.7"));
    CHECK(count(head, "x-forwarded-for") == 0);
    CHECK(has(head, "X-Forwarded-Proto: http"));
    CHECK(has(head, "X-Forwarded-Host: a.example"));
    CHECK(count(head, "Forwarded") == 0);
    CHECK(count(head, "X-Request-Id") == 1);
    CHECK(has(head, "X-Request-Id: id-1"));
}

TEST_CASE("what is said to Stint itself stays here") {
    const std::string head = upstream(
        test::get_with("X-Stint-Ticket: 00\r\nx-stint-ticket: 11\r\nX-Stint-Permit: p_0\r\n"
                       "X-STINT-Any: 2\r\nX-Stint-: 3\r\nX_Stint-Permit: 4\r\nX-Y: 1\r\n"));

    CHECK_FALSE(has(head, "tint-"));
    CHECK_FALSE(has(head, "TINT-"));
    CHECK(has(head, "X-Y: 1"));
}

TEST_CASE("a client without an address is unknown") {
    CHECK(has(upstream(test::get_with(""), {"", "http", "", "id"}), "X-Forwarded-For: unknown"));
}

TEST_CASE("the gateway's Via stands after the client's, in one field") {
    CHECK(has(upstream(test::get_with("")), "Via: 1.1 stint"));

    const std::string head = upstream(test::get_with("Via: 1.0 a\r\nX: y\r\nvia: 1.1 b\r\n"));
    CHECK(has(head, "Via: 1.0 a, 1.1 b, 1.1 stint"));
    CHECK(count(head, "via") == 0);
}

TEST_CASE("the gateway's name in Via may be another, or it adds none") {
    Forwarding with = forwarding;
    const std::string name = "edge-1";
    const std::string none;
    const std::string via = "Via: 1.0 a\r\nX: y\r\nvia: 1.1 b\r\n";
    SUBCASE("another") {
        with.via = &name;
        CHECK(has(upstream(test::get_with(""), with), "Via: 1.1 edge-1"));
        CHECK(has(upstream("GET / HTTP/1.0\r\n\r\n", with), "Via: 1.0 edge-1"));
        CHECK(has(upstream(test::get_with(via), with), "Via: 1.0 a, 1.1 b, 1.1 edge-1"));
    }
    SUBCASE("none") {
        with.via = &none;
        CHECK(upstream(test::get_with(""), with).find("Via") == std::string::npos);
        const std::string head = upstream(test::get_with(via), with);
        CHECK(has(head, "Via: 1.0 a"));
        CHECK(has(head, "Via: 1.1 b"));
        CHECK(head.find("stint") == std::string::npos);
    }
}

TEST_CASE("a request's framing goes upstream as the number that was understood") {
    const std::string sized = upstream(test::get_with("content-length: 007\r\n"));
    CHECK(has(sized, "Content-Length: 7"));
    CHECK(count(sized, "content-length") == 0);

    const std::string chunked = upstream(test::get_with("Transfer-Encoding: CHUNKED\r\n"));
    CHECK(has(chunked, "Transfer-Encoding: chunked"));

    CHECK(has(upstream(test::get_with("Content-Length: 0\r\n")), "Content-Length: 0"));
    CHECK(count(upstream(test::get_with("")), "Content-Length") == 0);
}

TEST_CASE("a response goes downstream as the gateway spells it") {
    CHECK(
        downstream(
            "HTTP/1.0 404 Nope\r\nServer:  x \r\nContent-Length: 012\r\n"
            "Connection: x-gone\r\nX-Gone: 1\r\nKeep-Alive: 5\r\n\r\n",
            "GET", 1, true, "id-2") == "HTTP/1.1 404 Nope\r\n"
                                       "Server: x\r\n"
                                       "Content-Length: 12\r\n"
                                       "X-Request-Id: id-2\r\n"
                                       "\r\n");
}

TEST_CASE("hop-by-hop fields of a response are removed") {
    const std::string head = downstream(response_with(
        "Transfer-Encoding: chunked\r\nTrailer: X\r\nUpgrade: h2c\r\nProxy-Authenticate: Basic\r\n"
        "Proxy-Connection: close\r\nConnection: close\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n"));

    CHECK(
        head ==
        "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST_CASE("Connection cannot name away what frames a response, or whom it is for") {
    const std::string head = downstream(response_with(
        "Connection: Content-Length, Transfer-Encoding, Set-Cookie, Cache-Control, Vary\r\n"
        "Connection: Expires, X-Request-Id, X-Gone\r\nContent-Length: 3\r\nSet-Cookie: a\r\n"
        "Cache-Control: private\r\nVary: *\r\nExpires: 0\r\nX-Request-Id: i\r\nX-Gone: 1\r\n"));

    CHECK(
        head == "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nCache-Control: private\r\nVary: *\r\n"
                "Expires: 0\r\nX-Request-Id: i\r\nContent-Length: 3\r\n\r\n");
}

TEST_CASE("a 101 goes downstream as the gateway spells it") {
    HeadParser parser{test::max_head};
    const ResponseHead head =
        parser
            .parse_response(
                "HTTP/1.1 101 Switching\r\nconnection: upgrade, x-gone\r\nupgrade: a,b\r\n"
                "Content-Length: 5\r\nX-Gone: 1\r\nX-Kept: 1\r\n\r\n",
                "GET")
            .value();
    HeadBuffer out;

    write_switching_head(out, head, "a, b", "id-3");

    CHECK(
        out.view() == "HTTP/1.1 101 Switching\r\nX-Kept: 1\r\nConnection: Upgrade\r\n"
                      "Upgrade: a, b\r\nX-Request-Id: id-3\r\n\r\n");
}

TEST_CASE("a body of unknown length is chunked for 1.1 and ends by close for 1.0") {
    for (const std::string_view fields : {"", "Transfer-Encoding: chunked\r\n"}) {
        const std::string modern = downstream(response_with(fields), "GET", 1);
        CHECK(has(modern, "Transfer-Encoding: chunked"));
        CHECK(count(modern, "Connection") == 0);

        const std::string old = downstream(response_with(fields), "GET", 0);
        CHECK(count(old, "Transfer-Encoding") == 0);
        CHECK(has(old, "Connection: close"));
    }
}

TEST_CASE("a 1.0 client that keeps its connection is told so") {
    CHECK(has(
        downstream(response_with("Content-Length: 1\r\n"), "GET", 0), "Connection: keep-alive"));
}

TEST_CASE("a client whose connection ends is told so") {
    CHECK(has(
        downstream(response_with("Content-Length: 1\r\n"), "GET", 1, false), "Connection: close"));
}

TEST_CASE("a response framed for a request keeps the connection only if the client would") {
    RequestHead request;
    ResponseHead response;
    response.framing = {Kind::length, 1};
    CHECK(frame_response(request, response, true).keep_alive);

    request.keep_alive = false;
    CHECK_FALSE(frame_response(request, response, true).keep_alive);
}

TEST_CASE("HEAD and 304 keep the upstream's Content-Length") {
    CHECK(has(downstream(response_with("Content-Length: 09\r\n"), "HEAD"), "Content-Length: 9"));
    CHECK(has(
        downstream("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), "Content-Length: 9"));

    const std::string chunked = downstream(response_with("Transfer-Encoding: chunked\r\n"), "HEAD");
    CHECK(count(chunked, "Transfer-Encoding") == 0);
}

TEST_CASE("204 states no length") {
    const std::string head = downstream("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");

    CHECK(head == "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_CASE("an interim response has only the upstream's end-to-end fields") {
    CHECK(
        downstream(
            "HTTP/1.1 103 Early Hints\r\nLink: a\r\nConnection: x\r\nX: 1\r\n\r\n", "GET", 1, false,
            "id") == "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n");
}

TEST_CASE("an upstream's own X-Request-Id is kept") {
    const std::string head =
        downstream(response_with("X-Request-Id: up\r\n"), "HEAD", 1, true, "id");

    CHECK(has(head, "X-Request-Id: up"));
    CHECK(count(head, "X-Request-Id") == 1);
}

TEST_CASE("a chunk's header is its size in hexadecimal") {
    CHECK(ChunkHeader{1}.view() == "1\r\n");
    CHECK(ChunkHeader{31}.view() == "1f\r\n");
    CHECK(ChunkHeader{~std::size_t{0}}.view() == "ffffffffffffffff\r\n");
}

// RFC 9110 section 6.6.1.
TEST_CASE("a response is dated, unless the upstream has done so") {
    constexpr std::string_view now = "Sun, 06 Nov 1994 08:49:37 GMT";
    const auto dated = [now](std::string_view response) {
        return downstream(response, "GET", 1, true, "", now);
    };
    CHECK(has(dated(response_with("X-A: b\r\n")), "Date: Sun, 06 Nov 1994 08:49:37 GMT"));

    const std::string before = dated(response_with("daTE: Tue, 15 Nov 1994 08:12:31 GMT\r\n"));
    CHECK(has(before, "daTE: Tue, 15 Nov 1994 08:12:31 GMT"));
    CHECK(count(before, "Date") == 0);

    CHECK(count(dated("HTTP/1.1 103 Early Hints\r\n\r\n"), "Date") == 0);
}
