// require_fence: writes that show an old number of a lock, or none, go nowhere.
#include "retry_story.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;
using namespace stint::test;

namespace {

// `more`: what else the route says.
std::string fenced(std::string_view more = "limits: [{concurrent: 1}]") {
    return "permits: {address: 127.0.0.1:2}\nlocks: {jobs: {}}\n"
           "limits: {slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h},"
           " spent: {requests: 9, per: 1h, refund: [412]}}\n"
           "routes: [{name: all, match: {path: /}, upstream: origin, require_fence: jobs, " +
           std::string{more} + "}]";
}

std::string put(std::string_view fields) {
    return "PUT / HTTP/1.1\r\nHost: a\r\n" + std::string{fields} + "\r\n";
}

std::string read_refusal(Wire& client) {
    return client.read_until("}\n");
}

std::uint64_t fenced_off(InProcessGateway& gateway) {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : gateway.context().counters.fenced_off)
        sum += each;
    return sum;
}

} // namespace

TEST_CASE("a write without a number, or with none, is answered 412 and reaches no upstream") {
    InProcessGateway gateway{fenced()};
    Wire client = gateway.connect();

    client.send(put(""));
    const std::string missing = read_refusal(client);
    client.send(put("X-Stint-Fence: five\r\n"));
    const std::string malformed = read_refusal(client);
    client.send(put("X-Stint-Fence: 5\r\nX-Stint-Fence: 6\r\n"));
    const std::string twice = read_refusal(client);

    CHECK(missing.starts_with("HTTP/1.1 412 Precondition Failed\r\n"));
    CHECK(has(missing, "application/problem+json"));
    CHECK(has(missing, R"("status":412)"));
    CHECK(has(missing, R"("detail":"The lock jobs: this method needs X-Stint-Fence with)"));
    CHECK(has(missing, R"("lock":"jobs")"));
    CHECK(malformed.starts_with("HTTP/1.1 412 "));
    CHECK(has(malformed, "X-Stint-Fence must be there once"));
    CHECK(twice.starts_with("HTTP/1.1 412 "));
    gateway.settle();
    CHECK_FALSE(client.closed());
    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.ended(Outcome::refused, 4) == 3);
    CHECK(fenced_off(gateway) == 3);
    CHECK(gateway.limit("all.1").in_flight() == 0);
}

TEST_CASE("a write with the number of the lock goes, and the upstream does not see it") {
    InProcessGateway gateway{fenced()};
    Wire client = gateway.connect();

    client.send(put("X-Stint-Fence: 5\r\n"));
    Wire origin = gateway.upstream.accept();
    CHECK_FALSE(has(origin.read_head(), "Fence"));
    origin.send(ok);
    CHECK(has(read_response(client), "200 OK"));
    gateway.limit("lock:jobs").raise_fence(5);
    client.send(put("x-stint-fence: 5\r\n"));
    origin.read_head();
    origin.send(ok);

    CHECK(has(read_response(client), "200 OK"));
    CHECK(fenced_off(gateway) == 0);
}

TEST_CASE("who has lost the lock may read but not write") {
    InProcessGateway gateway{fenced()};
    gateway.limit("lock:jobs").raise_fence(6);
    Wire client = gateway.connect();

    client.send(put("X-Stint-Fence: 5\r\n"));
    const std::string refusal = read_refusal(client);
    client.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    origin.send(ok);

    CHECK(refusal.starts_with("HTTP/1.1 412 "));
    CHECK(has(refusal, "out of date, as the lock has been given out again"));
    CHECK(has(read_response(client), "200 OK"));
}

TEST_CASE("a lock that is given out while a write waits for its turn stops the write") {
    InProcessGateway gateway{fenced("limits: [slot, spent]")};
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    Wire second = gateway.connect();
    second.send(put("X-Stint-Fence: 5\r\n"));
    gateway.settle();
    REQUIRE(gateway.limit("slot").waiting() == 1);

    gateway.limit("lock:jobs").raise_fence(6);
    origin.send(ok);
    read_response(first);
    gateway.open();

    CHECK(read_refusal(second).starts_with("HTTP/1.1 412 "));
    gateway.settle();
    CHECK(origin.received().empty());
    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(gateway.limit("spent").state_of({.quota = 9}, net::read_clocks()).used == 1);
    CHECK(fenced_off(gateway) == 1);
    CHECK_FALSE(second.closed());
}

TEST_CASE("a lock that is given out before a write is sent once more stops it") {
    Story story{"{on: [503], attempts: 2}", fenced("limits: [slot]")};
    story.widen_budget();
    Wire origin = story.ask(put("X-Stint-Fence: 5\r\n"));

    story.gateway.limit("lock:jobs").raise_fence(6);
    origin.send(unavailable);

    CHECK(read_refusal(story.client).starts_with("HTTP/1.1 412 "));
    story.gateway.settle();
    CHECK_FALSE(story.gateway.second.called());
    CHECK(story.gateway.limit("slot").in_flight() == 0);
    CHECK(story.gateway.endpoint(0).in_flight() == 0);
    CHECK(story.gateway.endpoint(1).in_flight() == 0);
    CHECK(fenced_off(story.gateway) == 1);
}

TEST_CASE("a route without require_fence looks at no number") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();

    client.send(put("X-Stint-Fence: five\r\n"));
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    origin.send(ok);

    CHECK(has(read_response(client), "200 OK"));
}

TEST_CASE("requests of a route hold slots of a lock as of a cap") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\nlocks: {jobs: {}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [{lock: jobs}]}]"};
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    Wire second = gateway.connect();

    second.send(get);
    const std::string refusal = read_refusal(second);
    CHECK(gateway.limit("lock:jobs").in_flight() == 1);
    origin.send(ok);
    read_response(first);
    gateway.settle();

    CHECK(refusal.starts_with("HTTP/1.1 429 "));
    CHECK(has(refusal, R"("limit":"lock:jobs")"));
    CHECK(gateway.limit("lock:jobs").in_flight() == 0);
}
