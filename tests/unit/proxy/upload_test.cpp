#include "fixture.hpp"

#include <doctest/doctest.h>

#include <cstdio>

using namespace stint::test;

namespace {

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + 1))
        ++found;
    return found;
}

} // namespace

TEST_CASE("a body that comes after its head is forwarded as it comes") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    CHECK(has(upstream.read_head(), "\r\nContent-Length: 9\r\n"));

    client.send("one");
    CHECK(upstream.read(3) == "one");
    client.send("two");
    CHECK(upstream.read(3) == "two");
    client.send("endGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(upstream.read(3) == "end");
    upstream.send(ok);

    CHECK(read_response(client).ends_with("hi"));
    CHECK(upstream.read_head().starts_with("GET /next "));
}

TEST_CASE("a body that ends before its length, with its client, behind another request") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect_half_closing();
    client.send(std::string{get} + "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\none");
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    client.shutdown_send();
    gateway.settle(); // the end is known before the body is asked for

    upstream.send(ok);

    CHECK(read_response(client).ends_with("hi"));
    gateway.settle();
    CHECK(client.closed());
    CHECK(upstream.closed());
}

TEST_CASE("a chunked body may be cut anywhere, and the next request begins behind it") {
    const std::string request = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "3\r\nabc\r\n4;x\r\ndefg\r\n0\r\nT: 1\r\n\r\n";
    const std::string both = request + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    Wire upstream{gateway.loop(), {}};
    for (std::size_t cut = 1; cut < both.size(); ++cut) {
        CAPTURE(cut);
        client.send(both.substr(0, cut));
        gateway.settle();
        client.send(both.substr(cut));
        if (cut == 1)
            upstream = gateway.upstream.accept();

        upstream.read_head();
        const std::string body = upstream.read_until("0\r\n\r\n");
        std::string payload;
        for (std::size_t at = 0; body[at] != '0';) {
            const std::size_t size = body[at] - std::size_t{'0'};
            payload += body.substr(at + 3, size);
            at += 3 + size + 2;
        }
        CHECK(payload == "abcdefg");
        upstream.send(ok);
        CHECK(upstream.read_head().starts_with("GET /next "));
        upstream.send(ok);
        read_response(client);
        read_response(client);
    }
}

TEST_CASE("a large upload arrives whole and in large pieces") {
    InProcessGateway gateway{plain};
    std::string payload;
    for (int line = 0; payload.size() < 300'000; ++line)
        payload += std::to_string(line) + "\n";
    std::string request = "POST / HTTP/1.1\r\nHost: a\r\n";
    bool chunked = false;
    SUBCASE("of known length") {
        request += "Content-Length: " + std::to_string(payload.size()) + "\r\n\r\n" + payload;
    }
    SUBCASE("chunked") {
        chunked = true;
        request += "Transfer-Encoding: chunked\r\n\r\n";
        for (std::size_t at = 0; at < payload.size(); at += 0xffff) {
            const std::string piece = payload.substr(at, 0xffff);
            char size[16];
            std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
            request += size + piece + "\r\n";
        }
        request += "0\r\n\r\n";
    }
    Wire client = gateway.connect();
    client.send(request); // at once: head and body share the first read
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();

    std::string seen;
    std::size_t pieces = 0;
    if (chunked)
        for (;;) {
            const std::size_t size = std::stoul(upstream.read_until("\r\n"), nullptr, 16);
            const std::string piece = upstream.read(size + 2);
            if (size == 0)
                break;
            seen += piece.substr(0, size);
            ++pieces;
        }
    else
        seen = upstream.read(payload.size());

    CHECK(seen == payload);
    CHECK(pieces < 300); // not a byte at a time
    upstream.send(ok);
    CHECK(read_response(client).ends_with("hi"));
}

TEST_CASE("over a kept connection a body goes out whole, and the next request begins behind it") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    std::string payload;
    SUBCASE("with the head, in one read") {
        payload.assign(3'000, 'x');
    }
    SUBCASE("with the head, in a second read") {
        payload.assign(50'000, 'y');
    }
    SUBCASE("as far as it has come, and the rest later") {
        payload.assign(500'000, 'z');
    }
    const std::size_t later = payload.size() > 100'000 ? 100 : 0;
    for (int round = 0; round < 3; ++round) {
        CAPTURE(round);
        const std::string request =
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(payload.size()) +
            "\r\n\r\n" + payload;
        client.send(request.substr(0, request.size() - later));
        gateway.settle();
        client.send(request.substr(request.size() - later) + std::string{get});

        upstream.read_head();
        CHECK(upstream.read(payload.size()) == payload);
        upstream.send(ok);
        CHECK(read_response(client).ends_with("hi"));
        CHECK(upstream.read_head().starts_with("GET "));
        upstream.send(ok);
        CHECK(read_response(client).ends_with("hi"));
    }
    CHECK(gateway.to_upstream().connects == 1);
    CHECK(gateway.context().counters.routes[1].bytes_in == 3 * payload.size());
}

TEST_CASE("of a body that was read ahead the client's end is told as of any other") {
    InProcessGateway gateway{one_at_a_time};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    client.send(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" + std::string(50'000, 'x'));
    client.close();

    upstream.read_head();
    upstream.wait_closed();
    gateway.settle();
    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(gateway.ended(Outcome::client_gone, 0) == 1);
}

TEST_CASE("a final answer that comes early reaches the client, and no connection is kept") {
    InProcessGateway gateway{one_at_a_time};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nbegin");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("begin");

    upstream.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");

    const std::string response = client.read_to_end();
    CHECK(response.starts_with("HTTP/1.1 413 "));
    CHECK(has(response, "\r\nConnection: close\r\n"));
    CHECK(response.ends_with("\r\n\r\nno"));
    upstream.wait_closed();
    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(gateway.pooled() == 0);
}

TEST_CASE("an early answer arrives although its upstream has closed and the client goes on") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nbegin");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("begin");

    upstream.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
    upstream.shutdown_send();
    client.send(std::string(50'000, 'x'));

    CHECK(client.read_to_end().starts_with("HTTP/1.1 401 "));
}

TEST_CASE("a body that stalls is a 408 and frees the slot") {
    InProcessGateway gateway{one_at_a_time};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nbegin");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("begin");

    gateway.pass(31s);

    CHECK(client.read_head().starts_with("HTTP/1.1 408 "));
    upstream.wait_closed();
    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(gateway.ended(Outcome::client_gone, 4) == 1);
}

TEST_CASE("a chunked body that is not one is a 400, and the upstream never sees its end") {
    InProcessGateway gateway{one_at_a_time};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("abc\r\n");

    client.send("zz\r\n");

    CHECK(client.read_head().starts_with("HTTP/1.1 400 "));
    CHECK(upstream.read_to_end().empty());
    gateway.settle();
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a client that expects 100 is told to continue once its request is admitted") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                "Content-Length: 4\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    CHECK_FALSE(has(upstream.read_head(), "Expect"));

    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    CHECK(upstream.read(4) == "body");
    upstream.send(ok);

    const std::string response = read_response(client);
    CHECK(count(response, "HTTP/1.1") == 1);
    CHECK(response.ends_with("hi"));
}
