#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

constexpr std::string_view hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";

struct InterimExchange {
    explicit InterimExchange(std::string_view request = get) {
        client.send(request);
        upstream = gateway.upstream.accept();
        upstream.read_head();
    }

    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    Wire upstream{gateway.loop(), {}};
};

} // namespace

TEST_CASE("100 Continue of the upstream's is dropped") {
    InterimExchange exchange;

    exchange.upstream.send("HTTP/1.1 100 Continue\r\n\r\n");
    exchange.upstream.send(ok);

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(exchange.client.read(2) == "hi");
}

TEST_CASE("103 is forwarded before the final answer comes") {
    InterimExchange exchange;

    exchange.upstream.send(hints);

    const std::string interim = exchange.client.read_head();
    CHECK(interim.starts_with("HTTP/1.1 103 Early Hints\r\n"));
    CHECK(has(interim, "\r\nLink: </a.css>\r\n"));
    exchange.upstream.send(ok);
    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 200 OK\r\n"));
    exchange.gateway.settle();
    CHECK(exchange.gateway.pooled() == 1);
}

TEST_CASE("interim and final answer may come in one piece") {
    InterimExchange exchange;

    exchange.upstream.send(std::string{hints} + "HTTP/1.1 100 Continue\r\n\r\n" + std::string{ok});

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 103 "));
    CHECK(read_response(exchange.client).ends_with("\r\n\r\nhi"));
}

TEST_CASE("an HTTP/1.0 client is sent no interim answer") {
    InterimExchange exchange{"GET / HTTP/1.0\r\nHost: a\r\n\r\n"};

    exchange.upstream.send(hints);
    exchange.upstream.send(ok);

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("101 that nobody asked for is a 502 and ends the upstream's connection") {
    InterimExchange exchange;

    exchange.upstream.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n");

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 502 "));
    exchange.upstream.wait_closed();
    CHECK(exchange.gateway.pooled() == 0);
}

TEST_CASE("an upstream that never comes to its final answer is a 502") {
    InterimExchange exchange{"GET / HTTP/1.0\r\nHost: a\r\n\r\n"};

    for (int i = 0; i < 9; ++i)
        exchange.upstream.send(hints);

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 502 "));
}
