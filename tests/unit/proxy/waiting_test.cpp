#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::test;

namespace {

constexpr std::string_view waiting_for_one =
    "limits: {slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot]}]";

} // namespace

TEST_CASE("a request waits for its turn and then goes as if nothing had been") {
    InProcessGateway gateway{waiting_for_one};
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    Wire second = gateway.connect();
    second.send("POST /kept HTTP/1.1\r\nHost: a\r\nX-Own: yes\r\nContent-Length: 5\r\n\r\nhello");
    gateway.settle();
    CHECK(gateway.limit("slot").waiting() == 1);

    origin.send(ok);
    CHECK(has(read_response(first), "200 OK"));
    gateway.open();

    const std::string head = origin.read_head();
    CHECK(has(head, "POST /kept HTTP/1.1"));
    CHECK(has(head, "X-Own: yes"));
    CHECK(origin.read(5) == "hello");
    origin.send(ok);
    CHECK(has(read_response(second), "200 OK"));
    gateway.settle();
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a client that leaves while it waits leaves its place") {
    InProcessGateway gateway{waiting_for_one};
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    {
        Wire second = gateway.connect();
        second.send(get);
        gateway.settle();
        CHECK(gateway.limit("slot").waiting() == 1);
    }

    gateway.settle();

    CHECK(gateway.limit("slot").waiting() == 0);
    CHECK(gateway.ended(Outcome::client_gone, 0) == 1);
    origin.send(ok);
    read_response(first);
}

TEST_CASE("a client that leaves in the moment in which it is let go frees the slot") {
    InProcessGateway gateway{waiting_for_one};
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    Wire second = gateway.connect();
    second.send(get);
    gateway.settle();
    origin.send(ok);
    read_response(first);
    gateway.settle();

    gateway.let_go(); // decided, and not told yet
    CHECK(gateway.limit("slot").in_flight() == 1);
    gateway.context().abort_connections();
    CHECK(gateway.limit("slot").in_flight() == 0);
    gateway.settle();

    CHECK(gateway.ended(Outcome::client_gone, 0) == 1);
}

TEST_CASE("a gateway that ends while requests wait leaves none behind") {
    InProcessGateway gateway{waiting_for_one};
    Wire first = gateway.connect();
    first.send(get);
    Wire second = gateway.connect();
    second.send(get);
    gateway.settle();

    CHECK(gateway.limit("slot").waiting() == 1);
}

TEST_CASE("a client that has hung up when its turn comes is charged nothing, and nothing is sent") {
    InProcessGateway gateway{
        "limits:\n"
        "  hour: {requests: 9, per: 1h}\n"
        "  slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [hour, slot]}]"};
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    Wire second = gateway.connect();
    second.send(get);
    gateway.settle();
    origin.send(ok);
    read_response(first);
    gateway.settle();
    gateway.let_go(); // its worker has not heard of it

    SUBCASE("it has closed its connection") {
        second.close();
    }
    SUBCASE("it was reset") {
        second.reset();
    }
    gateway.settle();

    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(gateway.limit("hour").state_of({.quota = 9}, net::read_clocks()).used == 1);
    CHECK(gateway.ended(Outcome::client_gone, 0) == 1);
    CHECK(origin.received() == "");
}
