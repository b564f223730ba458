// What would become of a request before a scope, without entering; and finding a scope.
#include "limits/cooldown/cooldown.hpp"
#include "limits/cooldown/cooldown_set.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;
using Asked = Cooldown::Pass::Asked;

SteadyTime at(Duration since_start) {
    return SteadyTime{1000s} + since_start;
}

struct Caller final : CooldownWaiter {
    void call() noexcept override { called = true; }
    bool called = false;
    SteadyTime again{};
};

constexpr CooldownRules impatient{.most = 10min, .otherwise = std::nullopt, .ramp = 10s};
constexpr CooldownRules patient{
    .most = 10min,
    .otherwise = std::nullopt,
    .ramp = 10s,
    .learn = false,
    .waits = true,
    .max_wait = 60s,
    .max_waiting = 100};

// One scope, and its waiters.
struct Watched {
    CooldownPtr cooldown = std::make_shared<Cooldown>("target");
    std::deque<Caller> callers;

    ~Watched() {
        for (Caller& each : callers)
            cooldown->leave(each);
    }
    Cooldown::Outlook outlook(Duration now, const CooldownRules& rules) const {
        return cooldown->outlook(at(now), rules);
    }
    Cooldown::Pass pass(Duration now) {
        auto entry = Cooldown::enter(cooldown, at(now), impatient);
        REQUIRE(entry.pass);
        return std::move(entry.pass);
    }
    void send(Duration now, const std::optional<Asked>& asked = {}) {
        pass(now).answered(asked, at(now), impatient);
    }
    void wait(Duration now) {
        REQUIRE(
            Cooldown::attempt(cooldown, callers.emplace_back(), at(now), patient).again > at(now));
    }
    // When the last in line is sent, if each answer is good and takes a second.
    Duration last_sent(Duration now) {
        std::deque<std::pair<Duration, Cooldown::Pass>> under_way;
        for (;; now += 1ms) {
            for (; !under_way.empty() && under_way.front().first <= now; under_way.pop_front())
                under_way.front().second.answered(std::nullopt, at(now), patient);
            while (auto pass =
                       Cooldown::attempt(cooldown, callers.front(), at(now), patient).pass) {
                under_way.emplace_back(now + 1s, std::move(pass));
                callers.pop_front();
                if (callers.empty())
                    return now;
            }
        }
    }
};

} // namespace

TEST_CASE("before an open scope a request may be sent, whether it may wait or not") {
    Watched scope;

    for (const CooldownRules& rules : {impatient, patient}) {
        CHECK_FALSE(scope.outlook(0s, rules).refused);
        CHECK_FALSE(scope.outlook(0s, rules).wait);
    }
}

TEST_CASE("before a paused scope one is refused that cannot wait, and it is not counted") {
    Watched scope;
    scope.send(0s, Asked{503, 20s});

    const auto outlook = scope.outlook(5s, impatient);

    REQUIRE(outlook.refused);
    CHECK(outlook.refused->status == 503);
    CHECK(outlook.refused->wait == 15s);
    CHECK_FALSE(outlook.wait);
    CHECK(scope.cooldown->state(at(5s)).refused == 0);
}

TEST_CASE("before a paused scope one waits that may, and it does not stand in line for that") {
    Watched scope;
    scope.send(0s, Asked{429, 20s});

    CHECK(scope.outlook(5s, patient).wait == 15s);

    CHECK(scope.cooldown->state(at(5s)).waiting == 0);
    CHECK_FALSE(scope.outlook(20s, patient).wait); // it would be the probe
    CHECK(scope.pass(20s).is_probe());
}

TEST_CASE("a wait that is known to be too long is a refusal, one for a probe is not known") {
    Watched scope;
    CooldownRules rules = patient;
    rules.max_wait = 500ms;
    scope.send(0s, Asked{429, 20s});

    const auto refused = scope.outlook(5s, rules).refused;
    REQUIRE(refused);
    CHECK(refused->wait == 15s);
    CHECK(scope.outlook(19500ms, rules).wait == 500ms);
    const auto probe = scope.pass(20s);
    CHECK(scope.outlook(20s, rules).wait == 500ms); // no longer than it may
    rules.max_wait = Duration::zero();
    CHECK(scope.outlook(20s, rules).refused);
}

TEST_CASE("where as many wait as may the next is refused") {
    Watched scope;
    CooldownRules rules = patient;
    rules.max_waiting = 2;
    scope.send(0s, Asked{429, 20s});
    scope.wait(1s);
    CHECK(scope.outlook(1s, rules).wait);
    scope.wait(1s);

    const auto outlook = scope.outlook(1s, rules);

    REQUIRE(outlook.refused);
    CHECK(outlook.refused->wait == 19s);
}

TEST_CASE("while others wait a newcomer does not go first, whether it may wait or not") {
    Watched scope;
    scope.send(0s, Asked{429, 20s});
    scope.wait(1s);

    CHECK(scope.outlook(20s, patient).wait);
    const auto refused = scope.outlook(20s, impatient).refused;
    REQUIRE(refused);
    CHECK(refused->status == 429);
}

TEST_CASE("a ramp that is over lets a request go, and the outlook alone does not end it") {
    Watched scope;
    scope.send(0s, Asked{429, 20s});
    scope.send(20s); // the probe
    scope.send(20s);
    REQUIRE(scope.outlook(21s, impatient).refused);
    CooldownRules shorter = impatient;
    shorter.ramp = 1s;

    CHECK_FALSE(scope.outlook(21s, shorter).refused);

    CHECK(scope.cooldown->state(at(21s)).phase == CooldownState::Phase::ramping);
    CHECK(scope.outlook(21s, impatient).refused);
    CHECK_FALSE(scope.outlook(30s, impatient).refused);
}

TEST_CASE("the wait is about as long as it takes until all earlier waiters have gone") {
    enum class For { pause, probe, ramp };
    for (const For what : {For::pause, For::probe, For::ramp})
        for (const int waiting : {0, 1, 20, 90}) {
            CAPTURE(static_cast<int>(what));
            CAPTURE(waiting);
            Watched scope;
            for (Duration now = 0s; now < 10s; now += 50ms) // 20 a second
                scope.send(now);
            scope.send(10s, Asked{429, 10s});
            Cooldown::Pass probe;
            if (what != For::pause)
                probe = scope.pass(20s);
            const Duration now = what == For::pause ? 12s : what == For::probe ? 20s : 23s;
            if (what == For::ramp) {
                probe.answered(std::nullopt, at(20s), patient);
                scope.send(now);
            }
            for (int i = 0; i < waiting; ++i)
                scope.wait(now);
            const auto wait = scope.outlook(now, patient).wait;
            scope.wait(now);

            if (what == For::probe)
                probe.answered(std::nullopt, at(now + 1s), patient);
            const Duration sent = scope.last_sent(now + (what == For::probe ? 1s : 0s)) - now;

            REQUIRE(wait);
            CHECK(*wait >= sent - 50ms);
            CHECK(*wait <= sent + sent / 3); // the rate grows meanwhile
        }
}

TEST_CASE("the wait ends with the ramp, however slow the rate was") {
    Watched scope;
    scope.send(0s, Asked{429, 10s}); // one a second before
    for (int i = 0; i < 30; ++i)
        scope.wait(5s);

    CHECK(scope.outlook(5s, patient).wait == 5s + 1s + 10s); // pause, probe, ramp
    auto probe = Cooldown::attempt(scope.cooldown, scope.callers.front(), at(10s), patient).pass;
    scope.callers.pop_front();
    CHECK(scope.outlook(10s, patient).wait == 1s + 10s);
    probe.answered(std::nullopt, at(10s), patient);
    CHECK(scope.outlook(11s, patient).wait == 9s);
}

TEST_CASE("the wait for a learned pace allows for the earlier waiters") {
    Watched scope;
    CooldownRules rules = patient;
    rules.learn = true;
    auto first = Cooldown::enter(scope.cooldown, at(0s), rules).pass;
    first.answered(std::nullopt, at(0s), rules);
    first.adapt(LearnedPace::Told{10, 10s}, at(0s));
    auto second = Cooldown::enter(scope.cooldown, at(0s), rules).pass; // one a second from now on
    REQUIRE(second);

    CHECK(scope.outlook(0s, rules).wait == 1s);
    Caller caller;
    REQUIRE_FALSE(Cooldown::attempt(scope.cooldown, caller, at(0s), rules).pass);
    const auto wait = scope.outlook(0s, rules).wait;
    REQUIRE(wait);
    CHECK(*wait > 2s);
    CHECK(*wait < 2200ms);
    scope.cooldown->leave(caller);
}

TEST_CASE("a set finds what it has and makes none") {
    CooldownSet set{{"upstream:a", "host"}};
    CHECK(set.find({1, 1}) == nullptr);
    CHECK(set.all().empty());

    const auto first = set.of({1, 1}, "one", at(0s));

    CHECK(set.find({1, 1}) == first);
    CHECK(set.find({1, 2}) == nullptr);
}

TEST_CASE("a full set finds the one that further keys share, if there is one") {
    CooldownSet set{{"upstream:a", "host"}};
    for (std::uint64_t i = 0; i < CooldownSet::most; ++i) // each in use
        (void)Cooldown::enter(set.of({2, i}, "x", at(0s)), at(0s), impatient);
    CHECK(set.find({1, 1}) == nullptr);

    const auto shared = set.of({1, 1}, "one", at(0s));

    CHECK(set.find({1, 1}) == shared);
    CHECK(set.find({1, 2}) == shared);
    CHECK(set.find({2, 0}) != shared);
}

TEST_CASE("a set that has forgotten some has room, and finds no shared one") {
    CooldownSet set{{"upstream:a", "host"}};
    for (std::uint64_t i = 0; i <= CooldownSet::most; ++i)
        (void)Cooldown::enter(set.of({2, i}, "x", at(0s)), at(0s), impatient);
    REQUIRE(set.find({1, 2}));
    (void)set.of({1, 1}, "one", at(100s));

    CHECK(set.find({1, 2}) == nullptr);
}
