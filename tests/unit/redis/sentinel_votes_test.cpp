#include "redis/sentinel_votes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace stint;
using namespace stint::redis;
using namespace std::chrono_literals;

namespace {

const HostPort first{"10.0.0.1", 6379};
const HostPort second{"10.0.0.2", 6379};
constexpr SteadyTime noon{12h};

// Words of three Sentinels that know each other, of one instant.
SentinelVotes three(const std::vector<HostPort>& primaries) {
    SentinelVotes votes{3};
    for (std::size_t i = 0; i < primaries.size(); ++i)
        votes.note(i, {std::string{'s', static_cast<char>('0' + i)}, primaries[i], 2}, noon);
    return votes;
}

} // namespace

TEST_CASE("the primary is what a majority of all Sentinels names") {
    CHECK_FALSE(three({}).primary(noon));
    CHECK_FALSE(three({first}).primary(noon));
    CHECK(three({first, first}).primary(noon) == first);
    CHECK_FALSE(three({first, second}).primary(noon));
    CHECK(three({first, second, second}).primary(noon) == second);
    CHECK_FALSE(three({first, second, {"10.0.0.1", 6380}}).primary(noon));
}

TEST_CASE("an old word does not count, and a later one replaces it") {
    SentinelVotes votes = three({first, first});
    CHECK_FALSE(votes.primary(noon + 1ns));
    votes.note(1, {"s1", second, 2}, noon + 1s);
    CHECK_FALSE(votes.primary(noon));
    votes.note(0, {"s0", second, 2}, noon + 2s);
    CHECK(votes.primary(noon + 1s) == second);
    CHECK(votes.answered(noon + 2s) == 1);
}

TEST_CASE("Sentinels that are not listed count, too") {
    SentinelVotes votes{1};
    votes.note(0, {"s0", first, 0}, noon);
    CHECK(votes.primary(noon) == first);
    votes.note(0, {"s0", first, 2}, noon); // two of three are not heard
    CHECK(votes.count(noon) == 3);
    CHECK_FALSE(votes.primary(noon));
}

TEST_CASE("one that knows no others does not make itself the majority") {
    SentinelVotes votes{3};
    votes.note(2, {"s2", first, 0}, noon);
    CHECK(votes.count(noon) == 3);
    CHECK_FALSE(votes.primary(noon));
}

TEST_CASE("a Sentinel that is listed twice counts once, by its latest word") {
    SentinelVotes votes{3};
    votes.note(0, {"same", first, 2}, noon);
    votes.note(1, {"same", first, 2}, noon);
    CHECK_FALSE(votes.primary(noon));
    CHECK(votes.answered(noon) == 1);
    votes.note(2, {"other", second, 2}, noon);
    CHECK_FALSE(votes.primary(noon));
    votes.note(1, {"same", second, 2}, noon + 1s);
    CHECK(votes.primary(noon) == second);
}

TEST_CASE("an IPv6 address is in brackets before its port") {
    CHECK(HostPort{"::1", 6379}.text() == "[::1]:6379");
    CHECK(HostPort{"redis.internal", 1}.text() == "redis.internal:1");
}
