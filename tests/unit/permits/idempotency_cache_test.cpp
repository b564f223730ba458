#include "permits/idempotency_cache.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <variant>

using namespace stint;
using namespace stint::permits;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime start{1h};
constexpr Hash128 key{1, 2};
constexpr Hash128 request{3, 4};

Grant grant_of(std::uint64_t remaining) {
    Grant grant;
    grant.limits.push_back({5, remaining, start + 1s});
    return grant;
}

IdempotencyCache::Claim claim(IdempotencyCache& replays, SteadyTime now = start) {
    auto begun = replays.begin(key, request, now);
    REQUIRE(std::holds_alternative<IdempotencyCache::Claim>(begun));
    return std::move(std::get<IdempotencyCache::Claim>(begun));
}

} // namespace

TEST_CASE("a grant is told again until it is over") {
    IdempotencyCache replays;
    claim(replays).record(grant_of(3), start + 1s);
    const auto again = replays.begin(key, request, start + 999ms);
    REQUIRE(std::holds_alternative<Grant>(again));
    CHECK(std::get<Grant>(again).limits[0].remaining == 3);
    CHECK(claim(replays, start + 1s));
}

TEST_CASE("a request that came to nothing is answered anew") {
    IdempotencyCache replays;
    {
        const IdempotencyCache::Claim first = claim(replays);
        CHECK(
            std::get<IdempotencyCache::Conflict>(replays.begin(key, request, start)) ==
            IdempotencyCache::Conflict::in_progress);
    }
    CHECK(claim(replays));
}

TEST_CASE("a key is for one request") {
    IdempotencyCache replays;
    claim(replays).record(grant_of(3), start + 1s);
    CHECK(
        std::get<IdempotencyCache::Conflict>(replays.begin(key, {9, 9}, start)) ==
        IdempotencyCache::Conflict::other_request);
    CHECK(std::holds_alternative<IdempotencyCache::Claim>(replays.begin({7, 7}, request, start)));
}

TEST_CASE("the oldest grants give way") {
    IdempotencyCache replays;
    for (std::uint64_t i = 0; i <= IdempotencyCache::most; ++i) {
        auto begun = replays.begin({i, i}, request, start);
        std::get<IdempotencyCache::Claim>(begun).record(grant_of(i), start + 1h);
    }
    CHECK(std::holds_alternative<IdempotencyCache::Claim>(replays.begin({0, 0}, request, start)));
    CHECK(std::holds_alternative<Grant>(replays.begin({1, 1}, request, start)));
}

TEST_CASE("a short grant recorded behind a long one ends in time") {
    IdempotencyCache replays;
    auto longer = replays.begin({7, 7}, request, start);
    std::get<IdempotencyCache::Claim>(longer).record(grant_of(1), start + 1h);
    claim(replays).record(grant_of(2), start + 1s);
    CHECK(claim(replays, start + 2s));
}
