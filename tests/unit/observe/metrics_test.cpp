#include "observe/metrics.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace stint;
using namespace stint::observe;
using namespace std::chrono_literals;

namespace {

std::size_t bucket_of(Duration duration) {
    Histogram histogram;
    histogram.observe(duration);
    for (std::size_t i = 0; i < histogram.buckets.size(); ++i)
        if (histogram.buckets[i] == 1)
            return i;
    FAIL("no bucket");
    return 0;
}

} // namespace

TEST_CASE("a duration that equals a bound is counted within it") {
    for (std::size_t i = 0; i < latency_bounds.size(); ++i) {
        const auto bound = Duration{static_cast<std::int64_t>(latency_bounds[i] * 1e9 + 0.5)};

        CHECK(bucket_of(bound) == i);
        CHECK(bucket_of(bound + 1ns) == i + 1);
    }
}

TEST_CASE("a negative duration counts as none") {
    Histogram histogram;

    histogram.observe(-1s);

    CHECK(histogram.buckets[0] == 1);
    CHECK(histogram.sum_seconds == 0.0);
}

TEST_CASE("counters only grow to new slots and keep their counts") {
    WorkerCounters counters;
    counters.fit(2, 3, 1);
    counters.refusals[2] = 7;
    counters.denied[1] = 3;

    counters.fit(1, 4, 2);

    CHECK(counters.routes.size() == 2);
    CHECK(counters.refusals == std::vector<std::uint64_t>{0, 0, 7, 0});
    CHECK(counters.denied == std::vector<std::uint64_t>{0, 3, 0, 0});
    CHECK(counters.exempted.size() == 4);
    CHECK(counters.upstreams.size() == 2);
}

TEST_CASE("the sum of workers has every counter of each") {
    WorkerCounters worker;
    worker.fit(2, 1, 1);
    worker.routes[1].requests[outcome_count - 1][5] = 1;
    worker.routes[1].in_flight = 2;
    worker.routes[1].bytes_in = 3;
    worker.routes[1].bytes_out = 4;
    worker.refusals[0] = 5;
    worker.denied[0] = 6;
    worker.exempted[0] = 7;
    worker.upstreams[0].latency.observe(2s);
    worker.upstreams[0].connects = 6;
    worker.upstreams[0].connect_failures = 7;
    worker.upstreams[0].reused = 8;
    worker.upstreams[0].retries = 9;
    worker.upstreams[0].idle = 10;
    worker.connections_accepted = 11;
    worker.connections_rejected = 12;
    worker.connections_open = 13;
    worker.tunnels_open = 4;
    worker.accept_errors = 14;
    worker.rejected_per_client = 15;
    worker.slow_heads = 16;
    worker.slow_bodies = 17;
    worker.shed_clients = 18;
    worker.shed_upstreams = 19;
    worker.tickets[observe::WorkerCounters::issued] = 20;
    worker.http2_connections = 23;
    worker.http2_glitches.back() = 24;
    worker.tickets[observe::WorkerCounters::used] = 21;
    worker.tickets[observe::WorkerCounters::unknown] = 22;
    WorkerCounters sum; // has no slots yet: a worker may be ahead

    sum += worker;
    sum += worker;

    CHECK(sum.routes[1].requests[outcome_count - 1][5] == 2);
    CHECK(sum.routes[1].in_flight == 4);
    CHECK(sum.routes[1].bytes_in == 6);
    CHECK(sum.routes[1].bytes_out == 8);
    CHECK(sum.refusals[0] == 10);
    CHECK(sum.denied[0] == 12);
    CHECK(sum.exempted[0] == 14);
    const Histogram& latency = sum.upstreams[0].latency;
    CHECK(std::accumulate(latency.buckets.begin(), latency.buckets.end(), 0U) == 2);
    CHECK(latency.sum_seconds == doctest::Approx(4.0));
    CHECK(sum.upstreams[0].connects == 12);
    CHECK(sum.upstreams[0].connect_failures == 14);
    CHECK(sum.upstreams[0].reused == 16);
    CHECK(sum.upstreams[0].retries == 18);
    CHECK(sum.upstreams[0].idle == 20);
    CHECK(sum.connections_accepted == 22);
    CHECK(sum.connections_rejected == 24);
    CHECK(sum.connections_open == 26);
    CHECK(sum.tunnels_open == 8);
    CHECK(sum.tickets[observe::WorkerCounters::issued] == 40);
    CHECK(sum.http2_connections == 46);
    CHECK(sum.http2_glitches.back() == 48);
    CHECK(sum.tickets[observe::WorkerCounters::used] == 42);
    CHECK(sum.tickets[observe::WorkerCounters::unknown] == 44);
    CHECK(sum.accept_errors == 28);
    CHECK(sum.rejected_per_client == 30);
    CHECK(sum.slow_heads == 32);
    CHECK(sum.slow_bodies == 34);
    CHECK(sum.shed_clients == 36);
    CHECK(sum.shed_upstreams == 38);
}

TEST_CASE("a name keeps its slot and a new name gets the next") {
    MetricSlots slots;

    CHECK(slots.route("(none)") == 0);
    CHECK(slots.route("a") == 1);
    CHECK(slots.route("b") == 2);
    CHECK(slots.route("a") == 1);
    CHECK(slots.refusal("a", "x") == 0);
    CHECK(slots.refusal("b", "x") == 1);
    CHECK(slots.refusal("a", "x") == 0);
    CHECK(slots.upstream("shop") == 0);
    CHECK(slots.route_slot("b") == 2);
    CHECK(slots.route_slot("c") == std::nullopt);
    CHECK(slots.upstream_slot("shop") == 0);
    CHECK(slots.upstream_slot("b") == std::nullopt);

    CHECK(slots.routes() == std::vector<std::string>{"(none)", "a", "b"});
    CHECK(slots.refusals()[1] == std::pair<std::string, std::string>{"b", "x"});
    CHECK(slots.upstreams() == std::vector<std::string>{"shop"});
}
