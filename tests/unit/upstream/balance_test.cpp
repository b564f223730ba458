// The choice among endpoints, as a function of what is known of them.
#include "upstream/balance.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace stint::upstream;
using namespace std::chrono_literals;
using stint::Duration;
using stint::SteadyTime;
using stint::routing::Balance;

namespace {

constexpr std::size_t requests = 10'000;

std::vector<Candidate> weighing(std::initializer_list<std::uint64_t> weights) {
    std::vector<Candidate> all;
    for (const std::uint64_t weight : weights)
        all.push_back(
            {weight * 1000, stable_hash("10.0.0." + std::to_string(all.size() + 1) + ":80"), 0});
    return all;
}

std::uint64_t key(std::size_t number) {
    return stable_hash("client " + std::to_string(number));
}

std::vector<std::size_t> shares(Balancer& balancer, const std::vector<Candidate>& candidates) {
    std::vector<std::size_t> taken(candidates.size());
    for (std::size_t i = 0; i < requests; ++i)
        ++taken.at(balancer.choose(candidates, key(i)));
    return taken;
}

// Within 5 % of what the weights say.
void check_shares(const std::vector<std::size_t>& taken, const std::vector<Candidate>& candidates) {
    double total = 0;
    for (const Candidate& each : candidates)
        total += static_cast<double>(each.weight);
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const double expected =
            static_cast<double>(requests) * static_cast<double>(candidates[i].weight) / total;
        CAPTURE(i);
        CHECK(std::abs(static_cast<double>(taken[i]) - expected) <= 0.05 * expected);
    }
}

std::string turns(Balancer& balancer, const std::vector<Candidate>& candidates, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
        text += static_cast<char>('a' + balancer.choose(candidates, 0));
    return text;
}

SteadyTime at(Duration since_start) {
    return SteadyTime{1'000'000s} + since_start;
}

} // namespace

TEST_CASE("round robin gives each its weight, spread out rather than in bursts") {
    Balancer balancer{Balance::round_robin, 3};

    CHECK(turns(balancer, weighing({5, 1, 1}), 14) == "aabacaaaabacaa");
}

TEST_CASE("equal weights go in turn") {
    Balancer balancer{Balance::round_robin, 3};

    CHECK(turns(balancer, weighing({1, 1, 1}), 7) == "abcabca");
}

TEST_CASE("shares follow the weights over 10,000 requests") {
    const auto candidates = weighing({1, 2, 5});
    SUBCASE("round robin") {
        Balancer balancer{Balance::round_robin, 3};
        check_shares(shares(balancer, candidates), candidates);
    }
    SUBCASE("hash") {
        Balancer balancer{Balance::hash, 3};
        check_shares(shares(balancer, candidates), candidates);
    }
}

TEST_CASE("what has no weight is not chosen, and where nothing has any, nothing is") {
    for (const Balance how : {Balance::round_robin, Balance::least_requests, Balance::hash}) {
        Balancer balancer{how, 3};
        const auto some = weighing({0, 1, 0});
        const auto none = weighing({0, 0, 0});
        CHECK(turns(balancer, some, 4) == "bbbb");
        CHECK(balancer.choose(none, 1) == no_endpoint);
    }
}

TEST_CASE("an endpoint that was away takes its turns, not those that it missed") {
    Balancer balancer{Balance::round_robin, 2};
    CHECK(turns(balancer, weighing({1, 1}), 2) == "ab");
    CHECK(turns(balancer, weighing({1, 0}), 50) == std::string(50, 'a'));

    CHECK(turns(balancer, weighing({1, 1}), 4) == "abab");
}

TEST_CASE("least_requests takes the least in flight for its weight, equal ones in turn") {
    Balancer balancer{Balance::least_requests, 3};
    auto candidates = weighing({1, 1, 4});
    candidates[0].in_flight = 3; // 4 / 1
    candidates[1].in_flight = 1; // 2 / 1
    candidates[2].in_flight = 6; // 7 / 4
    CHECK(turns(balancer, candidates, 1) == "c");
    candidates[2].in_flight = 8; // 9 / 4
    CHECK(turns(balancer, candidates, 1) == "b");
    candidates[2].in_flight = 7; // 8 / 4, as much as the second
    CHECK(turns(balancer, candidates, 4) == "cbcb");
}

TEST_CASE("a key stays with its endpoint, in whichever worker or process") {
    Balancer one{Balance::hash, 3};
    Balancer other{Balance::hash, 3};
    const auto candidates = weighing({1, 1, 1});
    // Known values: who changes the hash sends every client elsewhere.
    CHECK(stable_hash("") == 0xF52A15E9A9B5E89BU);
    for (std::size_t i = 0; i < 100; ++i) {
        const std::size_t chosen = one.choose(candidates, key(i));
        CHECK(one.choose(candidates, key(i)) == chosen);
        CHECK(other.choose(candidates, key(i)) == chosen);
    }
}

TEST_CASE("when an endpoint goes, only its keys move, to all others by their weights") {
    Balancer balancer{Balance::hash, 4};
    const auto all = weighing({1, 1, 2, 1});
    auto without = all;
    without[2].weight = 0;
    std::array<std::size_t, 4> moved{};
    std::size_t had = 0;
    for (std::size_t i = 0; i < requests; ++i) {
        const std::size_t before = balancer.choose(all, key(i));
        const std::size_t after = balancer.choose(without, key(i));
        if (before != 2)
            CHECK(after == before);
        else
            ++moved.at(after);
        had += before == 2 ? 1 : 0;
    }
    CHECK(std::abs(static_cast<double>(had) - 4000.0) < 200);
    for (const std::size_t to : {0U, 1U, 3U})
        CHECK(static_cast<double>(moved.at(to)) > 0.9 * static_cast<double>(had) / 3);
}

TEST_CASE("an endpoint that is new takes keys from all others and moves no other") {
    Balancer balancer{Balance::hash, 3};
    const auto three = weighing({1, 1, 1});
    const std::vector<Candidate> two{three[0], three[1], {}};
    for (std::size_t i = 0; i < 1000; ++i) {
        const std::size_t after = balancer.choose(three, key(i));
        if (after != 2)
            CHECK(balancer.choose(two, key(i)) == after);
    }
}

TEST_CASE("an endpoint that comes back grows from a tenth to its whole weight") {
    CHECK(slow_share({}, 30s, at(0s)) == 1000); // it was never away
    CHECK(slow_share(at(0s), 30s, at(0s)) == 100);
    CHECK(slow_share(at(0s), 30s, at(10s)) == 400);
    CHECK(slow_share(at(0s), 30s, at(15s)) == 550);
    CHECK(slow_share(at(0s), 30s, at(30s)) == 1000);
    CHECK(slow_share(at(0s), 0s, at(0s)) == 1000);
    CHECK(slow_share(at(5s), 30s, at(0s)) == 100); // it is not back yet
    CHECK(slow_share(at(0s), 366 * 24h, at(183 * 24h)) == 550);
}
