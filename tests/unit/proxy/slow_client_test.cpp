// Clients that send, but less than min_rate on average.
#include "fixture.hpp"
#include "net/clock.hpp"
#include "proxy/forward/sending_rate.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::test;
using proxy::SendingRate;

namespace {

constexpr SteadyTime start{1h};
constexpr MinRate ten_a_second{10, 2s};

// Rates that no client of a test reaches, or each does.
constexpr std::string_view nobody_is_fast_enough = "min_rate: {head: 1GiB, body: 1GiB, after: 1ms}";
constexpr std::string_view no_head_is = "min_rate: {head: 1GiB, body: off, after: 1ms}";
constexpr std::string_view no_body_is = "min_rate: {head: off, body: 1GiB, after: 1ms}";

std::string with(std::string_view lines) {
    return std::string{lines} + "\n" + std::string{plain};
}

// The coarse clock, by which rates are measured, has gone on by more than `after` above.
void pass_a_moment() {
    const SteadyTime until = net::read_coarse_clock() + 10ms;
    while (net::read_coarse_clock() < until) {
    }
}

constexpr std::string_view post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n";

} // namespace

TEST_CASE("a rate is missed by less than the average, once the time is there") {
    CHECK_FALSE(ten_a_second.missed_by(0, 2s - 1ns));
    CHECK(ten_a_second.missed_by(19, 2s));
    CHECK_FALSE(ten_a_second.missed_by(20, 2s));
    CHECK(ten_a_second.missed_by(99, 10s));
    CHECK_FALSE(ten_a_second.missed_by(100, 10s));
    CHECK_FALSE(MinRate{0, 0s}.missed_by(0, 1h));
    CHECK(MinRate{1U << 30U, 1s}.missed_by((std::uint64_t{1} << 30U) * 86'400 * 365, 24h * 366));
}

TEST_CASE("only the time counts in which the client is waited for") {
    SendingRate rate;
    rate.wait(start);
    rate.arrive(start + 1s, 10);
    CHECK_FALSE(rate.below(ten_a_second)); // too early to say

    rate.wait(start + 1h); // the upstream was slow meanwhile
    rate.arrive(start + 1h + 1s, 10);
    CHECK_FALSE(rate.below(ten_a_second));

    rate.wait(start + 2h);
    rate.arrive(start + 2h + 1s, 9);
    CHECK(rate.below(ten_a_second));
    rate.wait(start + 3h);
    rate.arrive(start + 3h, 1); // caught up
    CHECK_FALSE(rate.below(ten_a_second));
}

TEST_CASE("a clock that stands behind its last reading counts as no time") {
    SendingRate rate;
    rate.wait(start);
    rate.arrive(start - 1h, 0);

    CHECK_FALSE(rate.below({1, 0s}));
}

TEST_CASE("a head that comes too slowly is answered 408") {
    InProcessGateway gateway{with(nobody_is_fast_enough)};
    Wire client = gateway.connect();
    client.send("GET / HT");
    gateway.settle();
    pass_a_moment();
    CHECK(client.received().empty()); // silence is for time-outs

    client.send("T");

    CHECK(client.read_to_end().starts_with("HTTP/1.1 408 "));
    CHECK(gateway.context().counters.slow_heads == 1);
    CHECK(gateway.ended(Outcome::client_gone, 4) == 1);
}

TEST_CASE("a head that comes whole is never too slow, however long the client has said nothing") {
    InProcessGateway gateway{with(no_head_is)};
    Wire client = gateway.connect();
    gateway.settle();
    pass_a_moment();
    client.send(get.substr(0, 8));
    gateway.settle();
    client.send(get.substr(8));
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    client.send("GET /2 HT"); // the time of the first request is not the second's
    gateway.settle();
    pass_a_moment();
    upstream.send(ok);
    CHECK(read_response(client).ends_with("hi"));
    client.send("TP/1.1\r\nHost: a\r\n\r\n");

    CHECK(upstream.read_head().starts_with("GET /2 "));
    CHECK(gateway.context().counters.slow_heads == 0);
}

TEST_CASE("a body that comes too slowly is answered 408, and the upstream's connection closed") {
    InProcessGateway gateway{with(no_body_is)};
    Wire client = gateway.connect();
    client.send(std::string{post} + "ab");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("ab");
    pass_a_moment();

    client.send("c");

    CHECK(client.read_to_end().starts_with("HTTP/1.1 408 "));
    upstream.wait_closed();
    CHECK(gateway.context().counters.slow_bodies == 1);
    CHECK(gateway.ended(Outcome::client_gone, 4) == 1);
    CHECK(gateway.pooled() == 0);
}

TEST_CASE("a body whose last byte is there is not too slow any more") {
    InProcessGateway gateway{with(no_body_is)};
    Wire client = gateway.connect();
    client.send(std::string{post} + "ab");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("ab");
    pass_a_moment();

    client.send("cdef");

    upstream.read_until("cdef");
    upstream.send(ok);
    CHECK(read_response(client).ends_with("hi"));
}

TEST_CASE("an answer that came before the body's end goes its way, however slow the rest is") {
    InProcessGateway gateway{with(no_body_is)};
    Wire client = gateway.connect();
    client.send(std::string{post} + "ab");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("ab");
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhi");
    CHECK(read_response(client).ends_with("hi"));
    pass_a_moment();

    client.send("c");
    upstream.read_until("c");
    upstream.send("ho");

    CHECK(client.read(2) == "ho");
    CHECK(gateway.context().counters.slow_bodies == 0);
}
