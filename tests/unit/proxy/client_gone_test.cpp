// Whatever ends a request frees what it holds.
#include "fixture.hpp"
#include "server/http1_connection.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace stint::test;

namespace {

struct Waiting {
    explicit Waiting(bool half_closing = false)
        : client{half_closing ? gateway.connect_half_closing() : gateway.connect()} {
        client.send(get);
        upstream = gateway.upstream.accept();
        upstream.read_head();
        check_in_flight();
    }

    void check_in_flight() {
        if (gateway.limit("slot").in_flight() != 1)
            throw std::runtime_error{"the request is not in flight"};
    }

    InProcessGateway gateway{one_at_a_time};
    Wire client;
    Wire upstream{gateway.loop(), {}};
};

} // namespace

TEST_CASE("a client that goes while the upstream thinks frees its slot and the upstream") {
    Waiting waiting;
    SUBCASE("closes") {
        waiting.client.close();
    }
    SUBCASE("resets") {
        waiting.client.reset();
    }
    SUBCASE("closes its sending side") {
        waiting.client.shutdown_send();
    }
    SUBCASE("closes after more requests were pipelined") {
        for (int i = 0; i < 10; ++i)
            waiting.client.send(get);
        waiting.gateway.settle();
        waiting.client.close();
    }
    SUBCASE("resets after it has filled the buffer") {
        waiting.client.send(std::string(20'000, 'x'));
        waiting.gateway.settle();
        waiting.client.reset();
    }

    waiting.gateway.run_until([&] { return waiting.gateway.limit("slot").in_flight() == 0; });

    waiting.upstream.wait_closed();
    waiting.gateway.run_until([&] { return waiting.gateway.context().connections.empty(); });
    CHECK(waiting.gateway.ended(Outcome::client_gone, 0) == 1);
}

namespace {

enum class End { closes, resets, closes_sending_side };

// An upload that its client does not go on with, or that its upstream does not take.
void end_stalled_upload(bool by_client, End end) {
    InProcessGateway gateway{one_at_a_time};
    Wire client = gateway.connect();
    const std::size_t size = 64 * 1024 * 1024;
    client.send(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\npart");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("part");
    gateway.settle();
    // The gateway's socket takes a piece: a FIN comes behind it.
    const std::string piece(64 * 1024, 'x');
    for (std::size_t sent = 0;
         !by_client && sent < size && gateway.context().clients.watches_none();
         sent += piece.size()) {
        client.send(piece);
        gateway.settle();
    }
    for (int ticks = 0; ticks < 3; ++ticks)
        gateway.settle();
    CHECK(gateway.context().clients.watches_none());
    CHECK(
        gateway.context().clients.guards_none() == by_client); // while its body is read that tells
    REQUIRE(gateway.limit("slot").in_flight() == 1);

    if (end == End::closes)
        client.close();
    else if (end == End::resets)
        client.reset();
    else
        client.shutdown_send();

    gateway.run_until([&] { return gateway.limit("slot").in_flight() == 0; });
    gateway.run_until([&] { return gateway.context().connections.empty(); });
    CHECK(gateway.ended(Outcome::client_gone, 0) == 1);
    CHECK(gateway.context().clients.guards_none());
}

} // namespace

TEST_CASE(
    "a stalled upload is not looked at with every tick, and its end is noticed all the same") {
    for (const bool by_client : {true, false})
        for (const End end : {End::closes, End::resets, End::closes_sending_side}) {
            CAPTURE(by_client);
            CAPTURE(static_cast<int>(end));
            end_stalled_upload(by_client, end);
        }
}

TEST_CASE("where half-close is allowed the answer still comes") {
    Waiting waiting{true};
    waiting.client.shutdown_send();
    waiting.gateway.settle();
    CHECK(waiting.gateway.limit("slot").in_flight() == 1);

    waiting.upstream.send(ok);

    CHECK(waiting.client.read_to_end().ends_with("\r\n\r\nhi"));
    waiting.gateway.settle();
    CHECK(waiting.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("where half-close is allowed a reset still frees the slot") {
    Waiting waiting{true};
    waiting.client.shutdown_send();
    waiting.gateway.settle();

    waiting.client.reset();

    waiting.gateway.run_until([&] { return waiting.gateway.limit("slot").in_flight() == 0; });
    waiting.upstream.wait_closed();
}

TEST_CASE("a client that goes in the middle of its body frees its slot and the upstream") {
    InProcessGateway gateway{one_at_a_time};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nbegin");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("begin");

    client.close();

    gateway.run_until([&] { return gateway.limit("slot").in_flight() == 0; });
    upstream.wait_closed();
    gateway.run_until([&] { return gateway.context().connections.empty(); });
    CHECK(gateway.pooled() == 0);
}

TEST_CASE("a client that goes in the middle of its response frees its slot and the upstream") {
    Waiting waiting;
    waiting.upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin");
    waiting.client.read_until("begin");

    waiting.client.close();

    waiting.gateway.run_until([&] { return waiting.gateway.limit("slot").in_flight() == 0; });
    waiting.upstream.wait_closed();
}

TEST_CASE("an upstream that resets frees the slot") {
    Waiting waiting;

    waiting.upstream.reset();

    CHECK(waiting.client.read_head().starts_with("HTTP/1.1 502 "));
    waiting.gateway.settle();
    CHECK(waiting.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("aborting a connection frees its slot") {
    Waiting waiting;

    for (auto& connection : waiting.gateway.context().connections)
        connection.abort();

    waiting.gateway.run_until([&] { return waiting.gateway.context().connections.empty(); });
    CHECK(waiting.gateway.limit("slot").in_flight() == 0);
    waiting.upstream.wait_closed();
}
