#include "limits/cooldown/cooldown.hpp"
#include "limits/cooldown/cooldown_set.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;
using Phase = CooldownState::Phase;
using Asked = Cooldown::Pass::Asked;

constexpr CooldownRules rules{
    .most = 10min, .otherwise = std::nullopt, .ramp = 10s, .learn = false};

SteadyTime at(Duration since_start) {
    return SteadyTime{1000s} + since_start;
}

Asked wait(Duration time, int status = 429) {
    return {status, time};
}

// One scope, and what is done to it.
struct Scope {
    CooldownPtr cooldown = std::make_shared<Cooldown>("target");
    CooldownRules with = rules;

    Cooldown::Entry enter(Duration when) { return Cooldown::enter(cooldown, at(when), with); }
    Cooldown::Pass pass(Duration when) {
        auto entry = enter(when);
        REQUIRE(entry.pass);
        return std::move(entry.pass);
    }
    // How many requests may go if one asks every millisecond.
    int admitted(Duration from, Duration until) {
        int count = 0;
        for (Duration when = from; when < until; when += 1ms) {
            auto entry = enter(when);
            count += entry.pass ? 1 : 0;
            if (entry.pass)
                entry.pass.answered(std::nullopt, at(when), with);
        }
        return count;
    }
    void pause(Duration when, Duration length) {
        pass(when).answered(wait(length), at(when), with);
    }
    Phase phase(Duration when) const { return cooldown->state(at(when)).phase; }
};

} // namespace

TEST_CASE("nothing is sent until the time that was asked for is over") {
    Scope scope;
    auto in_flight = scope.pass(0s);
    scope.pause(1s, 30s);

    CHECK_FALSE(scope.enter(1s).pass);
    CHECK_FALSE(in_flight.still_good());
    const auto late = scope.enter(31s - 1ns);
    CHECK_FALSE(late.pass);
    CHECK(late.refused.status == 429);
    CHECK(scope.enter(11s).refused.wait == 20s);
    CHECK(scope.phase(30s) == Phase::paused);
    CHECK(scope.enter(31s).pass.is_probe());
}

TEST_CASE("an answer that asks for nothing changes nothing") {
    Scope scope;
    auto first = scope.pass(0s);

    first.answered(std::nullopt, at(0s), rules);

    CHECK(first.still_good());
    CHECK(scope.enter(0s).pass);
}

TEST_CASE("no time is made up") {
    Scope scope;
    scope.pass(0s).answered(Asked{503, std::nullopt}, at(0s), rules);
    CHECK(scope.enter(0s).pass);

    scope.with.otherwise = 5s;
    scope.pass(1s).answered(Asked{503, std::nullopt}, at(1s), scope.with);
    const auto refused = scope.enter(1s).refused;
    CHECK(refused.status == 503);
    CHECK(refused.wait == 5s);
}

TEST_CASE("a time of zero is no pause, also where a default is set") {
    Scope scope;
    scope.with.otherwise = 5s;

    scope.pause(0s, 0s);

    CHECK(scope.enter(0s).pass);
}

TEST_CASE("a pause is no longer than the configuration allows") {
    Scope scope;

    scope.pause(0s, 366 * 24h);

    CHECK(scope.enter(0s).refused.wait == 10min);
}

TEST_CASE("answers to what was under way prolong a pause and never shorten it") {
    Scope scope;
    auto second = scope.pass(0s);
    auto third = scope.pass(0s);
    auto fourth = scope.pass(0s);
    scope.pause(1s, 10s);

    second.answered(wait(3s), at(2s), rules);
    CHECK(scope.enter(2s).refused.wait == 9s);
    third.answered(wait(20s), at(3s), rules);
    CHECK(scope.enter(3s).refused.wait == 20s);
    fourth.answered(std::nullopt, at(4s), rules);
    CHECK(scope.enter(4s).refused.wait == 19s);
    CHECK(scope.cooldown->state(at(4s)).pauses == 1);
}

TEST_CASE("exactly one probe goes, and the others wait for its answer") {
    Scope scope;
    scope.pause(0s, 10s);
    auto probe = scope.pass(10s);

    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(scope.enter(15s).pass);
    CHECK(scope.phase(15s) == Phase::probing);

    probe.answered(std::nullopt, at(16s), rules);
    CHECK(scope.phase(16s) == Phase::ramping);
    CHECK(scope.enter(16s).pass);
}

TEST_CASE("a probe that is turned away pauses again") {
    Scope scope;
    scope.pause(0s, 10s);

    scope.pass(10s).answered(wait(7s, 503), at(11s), rules);

    CHECK(scope.enter(11s).refused.wait == 7s);
    CHECK(scope.enter(11s).refused.status == 503);
    CHECK(scope.enter(18s).pass.is_probe());
}

TEST_CASE("a probe that is turned away without a time waits as long as before") {
    Scope scope;
    scope.pause(0s, 10s);

    scope.pass(10s).answered(Asked{429, std::nullopt}, at(11s), rules);

    CHECK(scope.enter(11s).refused.wait == 10s);
}

TEST_CASE("a probe that is told to come back at once is followed by another probe") {
    Scope scope;
    scope.pause(0s, 10s);
    scope.pass(10s).answered(wait(0s), at(11s), rules);

    auto probe = scope.pass(11s);

    CHECK(probe.is_probe());
    CHECK_FALSE(scope.enter(11s).pass);
}

TEST_CASE("a probe without an answer is replaced") {
    Scope scope;
    scope.pause(0s, 10s);
    {
        const auto dies = scope.pass(10s);
        CHECK_FALSE(scope.enter(11s).pass);
    }
    auto probe = scope.pass(12s);
    CHECK(probe.is_probe());
    CHECK_FALSE(scope.enter(12s).pass);
}

TEST_CASE("a moved pass is dropped once") {
    Scope scope;
    scope.pause(0s, 10s);
    Cooldown::Pass kept;
    {
        auto probe = scope.pass(10s);
        kept = std::move(probe);
    }

    CHECK_FALSE(scope.enter(11s).pass);
    kept = {};
    CHECK(scope.enter(11s).pass.is_probe());
}

TEST_CASE("a late answer while the probe is under way pauses, and the probe no longer opens") {
    Scope scope;
    auto late = scope.pass(0s);
    scope.pause(0s, 10s);
    auto probe = scope.pass(10s);

    late.answered(wait(5s), at(11s), rules);
    probe.answered(std::nullopt, at(12s), rules);

    CHECK(scope.enter(12s).refused.wait == 4s);
}

TEST_CASE("after a pause the rate is half of what it was and grows evenly") {
    Scope scope;
    for (Duration when = 0s; when < 10s; when += 10ms) // 100 a second
        scope.pass(when).answered(std::nullopt, at(when), rules);
    scope.pause(10s, 10s);
    scope.pass(20s).answered(std::nullopt, at(20s), rules);

    CHECK(scope.cooldown->state(at(20s)).rate == doctest::Approx(50).epsilon(0.02));
    CHECK(scope.admitted(20s, 21s) == doctest::Approx(52).epsilon(0.1));
    CHECK(scope.cooldown->state(at(25s)).rate == doctest::Approx(75).epsilon(0.02));
    CHECK(scope.admitted(25s, 26s) == doctest::Approx(77).epsilon(0.1));
    CHECK(scope.phase(30s) == Phase::open);
    CHECK(scope.admitted(30s, 31s) == 1000);
}

TEST_CASE("a pause while the rate still grows halves what it had come to") {
    Scope scope;
    for (Duration when = 0s; when < 10s; when += 10ms)
        scope.pass(when).answered(std::nullopt, at(when), rules);
    scope.pause(10s, 10s);
    scope.pass(20s).answered(std::nullopt, at(20s), rules);

    scope.pause(25s, 5s);
    scope.pass(30s).answered(std::nullopt, at(30s), rules);

    CHECK(scope.cooldown->state(at(30s)).rate == doctest::Approx(37.5).epsilon(0.02));
}

TEST_CASE("a slow rate is measured over a longer time") {
    Scope scope;
    for (Duration when = 0s; when < 60s; when += 2s)
        scope.pass(when).answered(std::nullopt, at(when), rules);

    CHECK(scope.cooldown->state(at(60s)).rate == doctest::Approx(0.5).epsilon(0.1));
    CHECK(scope.cooldown->state(at(600s)).rate == doctest::Approx(0.1));
}

TEST_CASE("with learn what the upstream tells paces the scope, and lost passes are not counted") {
    Scope scope;
    scope.with.learn = true;
    { const auto lost = scope.pass(0s); }
    auto first = scope.pass(0s);
    first.answered(std::nullopt, at(0s), scope.with);
    first.adapt(LearnedPace::Told{1, 10s}, at(0s));

    CHECK(scope.enter(0s).pass);
    const auto refused = scope.enter(1s).refused;

    CHECK(refused.paced);
    CHECK(refused.status == 429);
    CHECK(refused.wait == 9s);
    CHECK(scope.pass(10s).is_counted());
    CHECK(scope.pass(10s).is_counted()); // the one before it is lost, so another scout goes
}

TEST_CASE("without learn nothing that is told counts") {
    Scope scope;
    auto first = scope.pass(0s);

    first.adapt(LearnedPace::Told{0, 10s}, at(0s));

    CHECK(scope.enter(0s).pass);
}

TEST_CASE("a set has one cool-down for each key, and forgets those that nobody uses") {
    CooldownSet set{{"upstream:a", "host"}};
    const auto first = set.of({1, 1}, "one", at(0s));
    CHECK(set.of({1, 1}, "one", at(0s)) == first);
    CHECK(set.of({1, 2}, "two", at(0s)) != first);

    Cooldown::enter(first, at(0s), rules)
        .pass.answered(wait(1h), at(0s), {1h, std::nullopt, 1s, false});
    for (std::uint64_t i = 0; i < CooldownSet::most; ++i)
        (void)Cooldown::enter(set.of({2, i}, "x", at(0s)), at(0s), rules);

    CHECK(set.all().size() == CooldownSet::most + 1); // the last one is what the rest shares
    (void)set.of({3, 0}, "y", at(61s));
    CHECK(set.all().size() <= 3);
    CHECK(set.of({1, 1}, "one", at(61s)) == first);
}

TEST_CASE("a registry gives the same set for the same identity while it is used") {
    CooldownRegistry registry;
    CooldownSetPtr first = registry.obtain({"route:a", "route"});

    CHECK(registry.obtain({"route:a", "route"}) == first);
    CHECK(registry.obtain({"route:a", "host"}) != first);
    const std::weak_ptr<CooldownSet> watched = first;
    first.reset();
    CHECK(watched.expired());
}
