// Requests that wait for a pause of their upstream to end.
#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace stint;
using namespace stint::test;

namespace {

constexpr std::string_view waiting_for_it =
    "limits: {slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot],\n"
    "  cooldown: {when_paused: wait, max_wait: 1h}}]";
constexpr std::string_view asks_for_a_pause =
    "HTTP/1.1 503 No\r\nRetry-After: 600\r\nContent-Length: 2\r\n\r\nhi";

limits::CooldownSet::Totals totals(InProcessGateway& gateway) {
    const auto match = gateway.context().active->snapshot->routes.match("a", "/", "GET");
    return match.route->cooldown.set->totals(net::read_steady_clock());
}

// One whose upstream has just asked for a pause.
struct Paused {
    InProcessGateway gateway{waiting_for_it};
    Wire first = gateway.connect();
    Wire origin = ask();

    Wire ask() {
        first.send(get);
        Wire accepted = gateway.upstream.accept();
        accepted.read_head();
        accepted.send(asks_for_a_pause);
        CHECK(has(read_response(first), "503 No"));
        return accepted;
    }
};

} // namespace

TEST_CASE("a client that leaves during a pause leaves its place") {
    Paused paused;
    Wire stays = paused.gateway.connect();
    {
        Wire leaves = paused.gateway.connect();
        leaves.send(get);
        paused.gateway.settle();
        stays.send(get);
        paused.gateway.settle();
        CHECK(totals(paused.gateway).waiting == 2);
        CHECK(paused.gateway.limit("slot").in_flight() == 0);
    }

    paused.gateway.settle();

    CHECK(totals(paused.gateway).waiting == 1);
    CHECK(paused.gateway.ended(Outcome::client_gone, 0) == 1);
    CHECK(totals(paused.gateway).refused == 0);
}

TEST_CASE("who waits for a limit when the pause begins waits for its end, without a slot") {
    InProcessGateway gateway{waiting_for_it};
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    Wire second = gateway.connect();
    second.send(get);
    gateway.settle();
    CHECK(gateway.limit("slot").waiting() == 1);

    origin.send(asks_for_a_pause);
    read_response(first);
    gateway.open();
    gateway.settle();

    CHECK(totals(gateway).waiting == 1);
    CHECK(gateway.limit("slot").waiting() == 0);
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a client that has hung up when a pause ends is not served, at whatever step") {
    for (int steps = 0; steps < 12; ++steps) {
        INFO("hung up after ", steps, " handlers");
        InProcessGateway gateway{
            "limits: {hour: {requests: 9, per: 1h}}\n"
            "routes: [{name: all, match: {path: /}, upstream: origin, limits: [hour],\n"
            "  cooldown: {when_paused: wait, max_wait: 1h, max_cooldown: 1ms}}]"};
        Wire first = gateway.connect();
        first.send(get);
        Wire origin = gateway.upstream.accept();
        origin.read_head();
        origin.send(asks_for_a_pause);
        read_response(first);
        first.send(get); // the one that is sent first, to see whether it is over
        origin.read_head();
        Wire leaving = gateway.connect();
        leaving.send(get);
        gateway.settle();
        REQUIRE(totals(gateway).waiting == 1);
        origin.send(ok); // it is
        gateway.loop().restart();
        for (int i = 0; i < steps; ++i)
            gateway.loop().poll_one();
        const auto was_sent = [&] { return origin.received() != "" || gateway.upstream.called(); };
        const bool before = was_sent();

        leaving.close();
        gateway.settle();

        CHECK(was_sent() == before);
        if (!before)
            CHECK(gateway.limit("hour").state_of({.quota = 9}, net::read_clocks()).used == 2);
    }
}

TEST_CASE("a gateway that ends during a pause leaves nobody behind") {
    Paused paused;
    std::vector<Wire> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(paused.gateway.connect());
        clients.back().send(get);
    }
    paused.gateway.settle();

    CHECK(totals(paused.gateway).waiting == 3);
}
