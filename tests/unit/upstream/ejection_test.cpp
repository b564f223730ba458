// Who is taken out for its failures, and for how long.
#include "upstream/endpoint_group.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

using namespace stint::upstream;
using namespace std::chrono_literals;
using stint::Duration;
using stint::SteadyTime;
using stint::routing::EjectionRules;

namespace {

constexpr EjectionRules rules{.failures = 5, .first = 10s, .most = 5min};

SteadyTime at(Duration since_start) {
    return SteadyTime{1'000'000s} + since_start;
}

std::vector<EndpointStatePtr> endpoints(EndpointGroup& group, int count) {
    std::vector<EndpointStatePtr> all;
    for (int i = 0; i < count; ++i)
        all.push_back(group.endpoint("10.0.0.1:" + std::to_string(i + 1)));
    return all;
}

} // namespace

TEST_CASE("each ejection is twice as long as the last, and none longer than the most") {
    Ejection last;
    SteadyTime now = at(0s);
    for (const Duration length : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        last = next_ejection(last, rules, now);
        CHECK(last.until - now == length);
        now = last.until + 1s;
    }
}

TEST_CASE("after a quiet time the length goes down again, a doubling for each longest ejection") {
    Ejection last;
    for (int i = 0; i < 20; ++i)
        last = next_ejection(
            last, rules, last.until + 1s + (i == 0 ? Duration{at(0s) - SteadyTime{}} : Duration{}));
    const SteadyTime ended = last.until;
    CHECK(next_ejection(last, rules, ended + 299s).until == ended + 299s + 300s);
    CHECK(next_ejection(last, rules, ended + 301s).until == ended + 301s + 160s + 0s);
    CHECK(next_ejection(last, rules, ended + 2 * 300s + 1s).until == ended + 601s + 160s / 2);
    CHECK(next_ejection(last, rules, ended + 24h).until == ended + 24h + 10s);
}

TEST_CASE("failures take out at most half of the endpoints") {
    CHECK_FALSE(may_eject(1, 0));
    CHECK(may_eject(2, 0));
    CHECK_FALSE(may_eject(2, 1));
    CHECK(may_eject(3, 0));
    CHECK_FALSE(may_eject(3, 1));
    CHECK(may_eject(4, 1));
    CHECK_FALSE(may_eject(4, 2));
}

TEST_CASE("an ejected endpoint is out until its time is over, and then new") {
    EndpointGroup group;
    const auto all = endpoints(group, 2);
    EndpointState& first = *all[0];
    REQUIRE(group.eject(first, all, rules, at(0s)));

    CHECK_FALSE(first.up(at(0s)));
    CHECK_FALSE(first.up(at(10s) - 1ns));
    CHECK(first.up(at(10s)));
    CHECK(first.back_since() == at(10s));
    CHECK(first.ejections() == 1);
    CHECK_FALSE(group.eject(*all[1], all, rules, at(1s))); // the other half stays
    CHECK(group.eject(*all[1], all, rules, at(10s)));
}

TEST_CASE("who is out for another reason counts among the half") {
    EndpointGroup group;
    const auto all = endpoints(group, 4);
    all[0]->drain();
    all[1]->set_unhealthy();

    CHECK_FALSE(group.eject(*all[2], all, rules, at(0s)));

    all[0]->enable(at(1s));
    CHECK(group.eject(*all[2], all, rules, at(1s)));
}

TEST_CASE("an endpoint that is out already is not taken out again") {
    EndpointGroup group;
    const auto all = endpoints(group, 2);
    REQUIRE(group.eject(*all[0], all, rules, at(0s)));

    CHECK_FALSE(group.eject(*all[0], all, rules, at(5s)));
    CHECK(all[0]->ejected_until() == at(10s));
}

TEST_CASE("threads that eject at once never take out more than half") {
    EndpointGroup group;
    const auto all = endpoints(group, 6);
    std::vector<std::thread> threads;
    for (const auto& each : all)
        threads.emplace_back(
            [&, state = each.get()] { (void)group.eject(*state, all, rules, at(0s)); });
    for (std::thread& each : threads)
        each.join();

    int out = 0;
    for (const auto& each : all)
        out += each->up(at(1s)) ? 0 : 1;
    CHECK(out == 3);
}

TEST_CASE("failures count in a row: a success begins anew") {
    EndpointState state{"a:1"};
    CHECK(state.note_failure("answered 503") == 1);
    CHECK(state.note_failure("closed early") == 2);
    state.note_success();

    CHECK(state.note_failure("answered 500") == 1);
    CHECK(state.failures() == 3);
    CHECK(state.last_failure() == "answered 500");
}

TEST_CASE("an endpoint that is drained and unhealthy is back when both are over") {
    EndpointState state{"a:1"};
    CHECK(state.back_since() == SteadyTime{});
    state.drain();
    state.set_unhealthy();
    state.set_healthy(at(1s));
    CHECK_FALSE(state.up(at(1s)));
    CHECK(state.drained());

    state.enable(at(2s));
    CHECK(state.up(at(2s)));
    CHECK(state.back_since() == at(2s));
    state.enable(at(3s)); // it was not away
    CHECK(state.back_since() == at(2s));
}

TEST_CASE("a charge holds one of an endpoint's places until it ends") {
    EndpointState state{"a:1"};
    REQUIRE(state.charge(2));
    REQUIRE(state.charge(2));
    CHECK_FALSE(state.charge(2));
    state.discharge();
    CHECK(state.charge(2));
    CHECK(state.in_flight() == 2);
}

TEST_CASE("an endpoint's state is found again as long as somebody has it") {
    EndpointRegistry registry;
    const EndpointGroupPtr group = registry.group("shop");
    const EndpointStatePtr state = group->endpoint("a:1");
    state->drain();

    CHECK(registry.group("shop") == group);
    CHECK(group->endpoint("a:1") == state);
    CHECK(registry.group("other")->endpoint("a:1") != state);
    CHECK_FALSE(group->endpoint("a:2")->drained());
}
