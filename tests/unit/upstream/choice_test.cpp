// A cluster's choice: what of its endpoints' live state it looks at.
#include "fixture.hpp"
#include "upstream/cluster.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace stint::upstream;
using namespace stint::upstream::test;
using stint::Duration;
using stint::routing::Balance;
using stint::routing::UpstreamSpec;

namespace {

// Endpoints named a, b, c, … with the weights 1.
struct Upstream {
    explicit Upstream(
        int count, void (*adjust)(UpstreamSpec&) = [](UpstreamSpec&) {}) {
        spec.balance.group = std::make_shared<EndpointGroup>();
        spec.balance.ejection = {.failures = 2, .first = 10s, .most = 60s};
        std::vector<std::shared_ptr<Pool>> pools;
        for (int i = 0; i < count; ++i) {
            const std::string text(1, static_cast<char>('a' + i));
            spec.endpoints.push_back({.host = "127.0.0.1", .port = 1, .text = text});
            spec.endpoints.back().state = spec.balance.group->endpoint(text);
            pools.push_back(std::make_shared<Pool>(text, std::vector<stint::net::Endpoint>{}));
        }
        adjust(spec);
        cluster.emplace(spec, std::move(pools));
    }

    std::string turns(int count, Duration when, EndpointMask not_these = 0) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            const auto choice = cluster->choose(at(when), 0, not_these);
            text += choice.member == nullptr ? "-" : choice.member->pool->endpoint();
        }
        return text;
    }
    EndpointState& state(std::size_t index) { return *spec.endpoints.at(index).state; }
    void fail(std::size_t index, Duration when) {
        auto choice = cluster->choose(at(when), 0, ~(EndpointMask{1} << index));
        REQUIRE(choice.member != nullptr);
        cluster->failed(*choice.member, "refused", at(when));
    }

    UpstreamSpec spec{"u", {}, "", 0};
    std::optional<Cluster> cluster;
};

} // namespace

TEST_CASE("a drained endpoint gets nothing, even if it is the only one") {
    Upstream one{1};
    CHECK(one.turns(2, 0s) == "aa");
    one.state(0).drain();
    CHECK(one.turns(1, 0s) == "-");
    Upstream two{2};
    two.state(0).drain();
    CHECK(two.turns(3, 0s) == "bbb");
}

TEST_CASE("an endpoint is out after failures in a row, and comes back by itself") {
    Upstream upstream{2};
    upstream.fail(0, 0s);
    CHECK(upstream.turns(2, 0s) == "ab");
    upstream.fail(0, 1s);

    CHECK(upstream.turns(4, 1s) == "bbbb");
    CHECK(upstream.turns(1, 10s) == "b");
    CHECK(upstream.turns(4, 11s).find('a') != std::string::npos);
}

TEST_CASE("the only endpoint is never taken out") {
    Upstream upstream{1};
    for (int i = 0; i < 10; ++i)
        upstream.fail(0, 0s);
    CHECK(upstream.turns(1, 0s) == "a");
    CHECK(upstream.state(0).failures() == 10);
}

TEST_CASE("with all of them out nobody is asked, unless fail_open says so") {
    const auto put_out = [](Upstream& upstream) {
        upstream.state(0).set_unhealthy();
        upstream.state(1).set_unhealthy();
        upstream.state(2).drain();
    };
    Upstream closed{3};
    put_out(closed);
    CHECK(closed.turns(2, 0s) == "--");
    Upstream open{3, [](UpstreamSpec& spec) { spec.balance.fail_open = true; }};
    put_out(open);
    CHECK(open.turns(4, 0s) == "abab"); // a drained one is not asked even then
}

TEST_CASE("when one comes back is the end of an ejection or the next check, whichever is first") {
    Upstream upstream{3};
    upstream.state(0).set_unhealthy();
    upstream.state(0).set_next_check(at(4s));
    upstream.state(1).drain();
    upstream.state(2).set_unhealthy();
    upstream.state(2).set_next_check(at(3s));
    CHECK(upstream.cluster->back_in(at(0s)) == 3s);
    CHECK(upstream.cluster->back_in(at(9s)) == 0s);
    upstream.state(0).drain();
    upstream.state(2).drain();
    CHECK(upstream.cluster->back_in(at(0s)) == 0s); // nobody knows
}

TEST_CASE("those that have had a request are not given it again") {
    Upstream upstream{3};
    CHECK(upstream.turns(3, 0s, 0b010) == "aca");
    CHECK(upstream.turns(1, 0s, 0b111) == "-");
    Upstream one{1};
    CHECK(one.turns(1, 0s, 0b1) == "-");
}

TEST_CASE("an endpoint that comes back has a tenth of its share at first") {
    Upstream upstream{2, [](UpstreamSpec& spec) { spec.balance.slow_start = 30s; }};
    upstream.state(0).drain();
    upstream.state(0).enable(at(0s));

    const std::string taken = upstream.turns(110, 0s);

    CHECK(std::count(taken.begin(), taken.end(), 'a') == 10);
    const std::string later = upstream.turns(100, 30s);
    CHECK(std::count(later.begin(), later.end(), 'a') == 50);
}

TEST_CASE("an endpoint that has as many requests as it may is passed over") {
    Upstream upstream{2, [](UpstreamSpec& spec) { spec.endpoints[0].max_requests = 1; }};
    auto held = upstream.cluster->choose(at(0s));
    REQUIRE(held.member->pool->endpoint() == "a");

    CHECK(upstream.turns(3, 0s) == "bbb");
    held.charge.release();
    CHECK(upstream.turns(3, 0s).find('a') != std::string::npos);
}

TEST_CASE("where all are full that is what is said, not that none is up") {
    Upstream upstream{1, [](UpstreamSpec& spec) { spec.endpoints[0].max_requests = 1; }};
    const auto held = upstream.cluster->choose(at(0s));
    REQUIRE(held.member != nullptr);

    const auto choice = upstream.cluster->choose(at(0s));
    CHECK(choice.member == nullptr);
    CHECK(choice.full);
    upstream.state(0).drain();
    CHECK_FALSE(upstream.cluster->choose(at(0s)).full);
}

TEST_CASE("two workers' clusters count their requests in flight together") {
    Upstream one{2, [](UpstreamSpec& spec) { spec.balance.how = Balance::least_requests; }};
    std::vector<std::shared_ptr<Pool>> pools;
    for (const char* text : {"a", "b"})
        pools.push_back(std::make_shared<Pool>(text, std::vector<stint::net::Endpoint>{}));
    Cluster other{one.spec, std::move(pools)};
    const auto held = one.cluster->choose(at(0s));

    for (int i = 0; i < 3; ++i)
        CHECK(other.choose(at(0s)).member->state != held.member->state);
}

TEST_CASE("requests to the only endpoint are counted by each worker for itself") {
    Upstream upstream{1};
    auto held = upstream.cluster->choose(at(0s));
    REQUIRE(held.member != nullptr);
    CHECK(upstream.cluster->own_in_flight() == 1);
    CHECK(upstream.state(0).in_flight() == 0);

    held.charge.release();
    CHECK(upstream.cluster->own_in_flight() == 0);
}
