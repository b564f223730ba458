#include "permits/reported_cooldowns.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace stint;
using namespace stint::permits;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime start{1h};
constexpr ReportedCooldowns::CounterId counter{1, {2, 3}};

} // namespace

TEST_CASE("a pause lasts as long as it was told, of one counter") {
    ReportedCooldowns pauses;
    CHECK(!pauses.look(counter, start));
    CHECK(pauses.begin(counter, 503, 2s, start) == Duration{2s});
    REQUIRE(pauses.look(counter, start + 500ms));
    CHECK(pauses.look(counter, start + 500ms)->left == Duration{1500ms});
    CHECK(pauses.look(counter, start)->status == 503);
    CHECK(!pauses.look({1, {2, 4}}, start));
    CHECK(!pauses.look({2, {2, 3}}, start));
    CHECK(!pauses.look(counter, start + 2s));
}

TEST_CASE("a longer pause stays, and none is too long") {
    ReportedCooldowns pauses;
    pauses.begin(counter, 503, 10s, start);
    CHECK(pauses.begin(counter, 429, 1s, start) == Duration{10s});
    CHECK(pauses.look(counter, start)->status == 503);
    CHECK(pauses.begin(counter, 429, 24h, start) == ReportedCooldowns::longest);
    CHECK(pauses.begin({2, {}}, 429, -1s, start) == Duration::zero());
}

TEST_CASE("there are only so many, until some are over") {
    ReportedCooldowns pauses;
    for (std::uint64_t i = 0; i < ReportedCooldowns::most; ++i)
        pauses.begin({i + 10, {}}, 429, 1s, start);
    CHECK(pauses.begin(counter, 429, 1s, start) == Duration::zero());
    CHECK(pauses.begin(counter, 429, 1s, start + 1s) == Duration{1s});
}
