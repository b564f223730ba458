// The bound on the requests that the gateway has under way.
#include "fixture.hpp"
#include "net/clock.hpp"
#include "proxy/requests_in_flight.hpp"
#include "tunnel.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace stint;
using namespace stint::test;
using proxy::RequestsInFlight;

namespace {

std::string at_most(int number, std::string_view yaml = plain) {
    return "max_requests_in_flight: " + std::to_string(number) + "\n" + std::string{yaml};
}

std::size_t under_way(InProcessGateway& gateway) {
    return gateway.context().shared().in_flight.now();
}

std::string ask(Wire& client) {
    client.send(get);
    const std::string head = client.read_head();
    const std::string_view length{"Content-Length: "};
    return head + client.read(std::stoul(head.substr(head.find(length) + length.size())));
}

void check_refused(Wire& client) {
    const std::string answer = ask(client);
    CHECK(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
    CHECK(has(answer, "\r\nRetry-After: 1\r\n"));
    CHECK_FALSE(has(answer, "\r\nConnection: close\r\n"));
    CHECK(has(answer, "max_requests_in_flight is reached"));
}

} // namespace

TEST_CASE("so many requests have a place and no more, on however many threads") {
    RequestsInFlight all;
    std::vector<RequestsInFlight::Slot> places[4];
    {
        std::vector<std::jthread> threads;
        for (auto& mine : places)
            threads.emplace_back([&all, &mine] {
                for (int i = 0; i < 1000; ++i)
                    if (RequestsInFlight::Slot place = all.enter(1500))
                        mine.push_back(std::move(place));
            });
    }
    std::size_t taken = 0;
    for (auto& mine : places)
        taken += mine.size();
    CHECK(taken == 1500);
    CHECK(all.now() == 1500);
    CHECK(all.refused() == 2500);

    for (auto& mine : places)
        mine.clear();
    CHECK(all.now() == 0);
}

TEST_CASE("one request more than may be under way is refused, and charges no limit") {
    InProcessGateway gateway{at_most(
        1, "limits: {few: {requests: 5, per: 1h}}\n"
           "routes: [{name: all, match: {path: /}, upstream: origin, limits: [few]}]")};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    Wire second = gateway.connect();

    check_refused(second);
    check_refused(second);

    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.limit("few").state_of({.quota = 5}, net::read_clocks()).used == 1);
    CHECK(gateway.ended(Outcome::refused, 5) == 2);
    CHECK(gateway.context().shared().in_flight.refused() == 2);
    upstream.send(ok);
    CHECK(has(read_response(first), "200 OK"));
    gateway.settle();
    CHECK(under_way(gateway) == 0);
    second.send(get);
    upstream.read_head();
    upstream.send(ok);
    CHECK(has(read_response(second), "200 OK"));
}

TEST_CASE("a request that has gone gives its place back") {
    InProcessGateway gateway{at_most(1)};
    {
        Wire first = gateway.connect();
        first.send(get);
        gateway.upstream.accept().read_head();
        CHECK(under_way(gateway) == 1);
    }

    gateway.run_until([&] { return under_way(gateway) == 0; });
}

TEST_CASE("a request that waits for a limit has a place") {
    InProcessGateway gateway{at_most(
        2, "limits: {slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h}}\n"
           "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot]}]")};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    Wire second = gateway.connect();
    second.send(get);
    gateway.settle();
    CHECK(gateway.limit("slot").waiting() == 1);

    Wire third = gateway.connect();
    check_refused(third);
}

TEST_CASE("answers of routes count, too: one more than the bound is refused") {
    InProcessGateway gateway{at_most(
        1, "routes: [{name: own, match: {path: /own}, respond: {status: 204}}, "
           "{name: all, match: {path: /}, upstream: origin}]")};
    Wire first = gateway.connect();
    first.send(get);
    Wire held = gateway.upstream.accept();
    held.read_head();

    Wire second = gateway.connect();
    second.send("GET /own HTTP/1.1\r\nHost: a\r\n\r\n");

    CHECK(second.read_head().starts_with("HTTP/1.1 503 "));
}

TEST_CASE("a tunnel has a place until it ends") {
    Tunnel tunnel{at_most(1)};
    tunnel.open();
    Wire second = tunnel.gateway.connect();
    check_refused(second);

    tunnel.client.close();
    tunnel.upstream.close();
    tunnel.gateway.run_until([&] { return under_way(tunnel.gateway) == 0; });
}

TEST_CASE("a reload changes the number, and requests under way stay counted") {
    InProcessGateway gateway{at_most(1)};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();

    gateway.reload(at_most(2));
    Wire second = gateway.connect();
    second.send(get);
    Wire held = gateway.upstream.accept();
    held.read_head();
    Wire third = gateway.connect();
    check_refused(third);

    gateway.reload(plain);
    third.send(get);
    Wire other = gateway.upstream.accept();
    other.read_head();
    CHECK(under_way(gateway) == 2);
    upstream.send(ok);
    CHECK(has(read_response(first), "200 OK"));
    gateway.settle();
    CHECK(under_way(gateway) == 1);
}

TEST_CASE("permits are granted whatever is under way") {
    InProcessGateway gateway{at_most(
        1, "permits: {address: 127.0.0.1:2}\nlimits: {few: {requests: 5, per: 1h}}\n"
           "routes: [{name: all, match: {path: /}, upstream: origin}]")};
    Wire first = gateway.connect();
    first.send(get);
    Wire held = gateway.upstream.accept();
    held.read_head();

    Wire caller = gateway.connect_for_permits();
    caller.send("POST /v1/limits/few/take HTTP/1.1\r\nHost: localhost\r\n"
                "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");

    CHECK(caller.read_head().starts_with("HTTP/1.1 200 "));
    CHECK(under_way(gateway) == 1);
}
