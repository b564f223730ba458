// Requests that wait for a place on an endpoint.
#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

// Two endpoints that have room for one request each.
struct Full {
    explicit Full(std::string queue = "queue: {max_waiting: 2, max_wait: 10s}")
        : gateway{plain, InProcessGateway::TwoEndpoints{.settings = std::move(queue), .room = 1}} {
        one.send(get);
        other.send(get);
        at_first.emplace(gateway.upstream.accept());
        at_first->read_head();
        at_second.emplace(gateway.second.accept());
        at_second->read_head();
    }

    InProcessGateway gateway;
    Wire one = gateway.connect();
    Wire other = gateway.connect();
    std::optional<Wire> at_first;
    std::optional<Wire> at_second;
};

} // namespace

TEST_CASE("a request for which there is no place waits until there is one, in its turn") {
    Full full;
    Wire first = full.gateway.connect();
    Wire second = full.gateway.connect();
    first.send(get);
    full.gateway.settle();
    second.send(get);
    full.gateway.settle();
    CHECK(full.gateway.endpoint(0).in_flight() == 1);

    full.at_second->send(ok);
    read_response(full.other);

    full.at_second->read_head(); // on the same connection
    full.at_second->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1.");
    CHECK(read_response(first).ends_with("1."));
    full.at_second->read_head();
    full.at_second->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n2.");
    CHECK(read_response(second).ends_with("2."));
    full.gateway.settle();
    CHECK(full.gateway.endpoint(1).in_flight() == 0);
}

TEST_CASE("who comes while somebody waits does not overtake") {
    Full full;
    Wire first = full.gateway.connect();
    first.send(get);
    full.gateway.settle();
    full.at_first->send(ok);
    full.one.send(get); // pipelined behind the answer that it is about to get
    read_response(full.one);

    full.at_first->read_head();
    full.at_first->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1.");
    CHECK(read_response(first).ends_with("1."));
    full.at_first->read_head();
    full.at_first->send(ok);
    read_response(full.one);
}

TEST_CASE("a line that is full, or too long a wait, is a 503 with Retry-After") {
    std::string queue;
    SUBCASE("a full line") {
        queue = "queue: {max_waiting: 1, max_wait: 10s}";
    }
    SUBCASE("too long") {
        queue = "queue: {max_wait: 10ms}";
    }
    Full full{queue};
    Wire first = full.gateway.connect();
    first.send(get);
    full.gateway.settle();
    Wire second = full.gateway.connect();
    second.send(get);

    const std::string head = second.read_head();
    CHECK(head.starts_with("HTTP/1.1 503 "));
    CHECK(has(head, "\r\nRetry-After: 1\r\n"));
    CHECK(full.gateway.endpoint(0).failures() == 0);
}

TEST_CASE("a client that goes away leaves the line") {
    Full full;
    Wire first = full.gateway.connect();
    Wire second = full.gateway.connect();
    first.send(get);
    full.gateway.settle();
    second.send(get);
    full.gateway.settle();
    first.close();
    full.gateway.settle();

    full.at_first->send(ok);
    read_response(full.one);

    full.at_first->read_head();
    full.at_first->send(ok);
    CHECK(read_response(second).starts_with("HTTP/1.1 200 "));
}

TEST_CASE("a request that waits is refused when no endpoint is left, and served when one is back") {
    Full full;
    Wire waiting = full.gateway.connect();
    waiting.send(get);
    full.gateway.settle();
    SUBCASE("none is left") {
        full.gateway.endpoint(0).drain();
        full.gateway.endpoint(1).drain();
        CHECK(waiting.read_head().starts_with("HTTP/1.1 503 "));
    }
    SUBCASE("the gateway goes on without it") {
        full.at_first->send(ok);
        read_response(full.one);
        full.at_first->read_head();
        full.at_first->send(ok);
        CHECK(read_response(waiting).starts_with("HTTP/1.1 200 "));
    }
}

TEST_CASE("a client that has hung up when its place is free is not served, at whatever step") {
    for (int steps = 0; steps < 12; ++steps) {
        INFO("hung up after ", steps, " handlers");
        Full full;
        Wire leaving = full.gateway.connect();
        leaving.send(get);
        full.gateway.settle();
        full.at_first->send(ok);
        full.gateway.loop().restart();
        for (int i = 0; i < steps; ++i)
            full.gateway.loop().poll_one();
        const bool sent = full.at_first->received() != "";

        leaving.close();
        full.gateway.settle();

        CHECK((sent || full.at_first->received() == ""));
        if (!sent)
            CHECK(full.gateway.endpoint(0).in_flight() == 0);
    }
}
