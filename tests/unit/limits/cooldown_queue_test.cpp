// Requests that wait for a closed scope, under a virtual clock.
#include "limits/cooldown/cooldown.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;
using Phase = CooldownState::Phase;
using Asked = Cooldown::Pass::Asked;

SteadyTime at(Duration since_start) {
    return SteadyTime{1000s} + since_start;
}

struct Waiting final : CooldownWaiter {
    explicit Waiting(int which) : number{which} {}
    void call() noexcept override { called = true; }

    int number;
    bool called = false;
    SteadyTime again{};
};

// One scope and its waiters, each of which asks when it is called or its time has come.
struct Scope {
    CooldownPtr cooldown = std::make_shared<Cooldown>("target");
    CooldownRules rules{};
    std::deque<Waiting> all;
    std::vector<Waiting*> standing;
    std::vector<int> gone; // in the order they went
    std::vector<SteadyTime> when;
    std::vector<int> refused;
    std::vector<Cooldown::Pass> passes;

    Scope() {
        rules.most = 10min;
        rules.ramp = 10s;
        rules.waits = true;
        rules.max_wait = 60s;
        rules.max_waiting = 1000;
    }
    ~Scope() {
        for (Waiting* each : standing)
            cooldown->leave(*each);
    }

    Cooldown::Attempt attempt(Waiting& each, Duration now) {
        each.called = false;
        return Cooldown::attempt(cooldown, each, at(now), rules);
    }
    // Whether it still stands.
    bool ask(Waiting& each, Duration now) {
        auto attempt = this->attempt(each, now);
        if (attempt.pass) {
            gone.push_back(each.number);
            when.push_back(at(now));
            passes.push_back(std::move(attempt.pass));
        } else if (attempt.refused) {
            refused.push_back(each.number);
        }
        each.again = attempt.again;
        return each.again != SteadyTime{};
    }
    void arrive(int number, Duration now) {
        Waiting& each = all.emplace_back(number);
        if (ask(each, now))
            standing.push_back(&each);
    }
    // As the clock goes on, a millisecond at a time.
    void run(Duration from, Duration until) {
        for (Duration now = from; now < until; now += 1ms)
            for (bool more = true; more;) {
                more = false;
                for (std::size_t i = 0; i < standing.size(); ++i) {
                    Waiting& each = *standing[i];
                    if (!each.called && at(now) < each.again)
                        continue;
                    more = true;
                    if (!ask(each, now))
                        standing.erase(standing.begin() + static_cast<std::ptrdiff_t>(i--));
                }
            }
    }
    void answer(std::size_t pass, Duration now, const std::optional<Asked>& asked = {}) {
        passes[pass].answered(asked, at(now), rules);
    }
    void send_without_waiting(Duration now, const std::optional<Asked>& asked = {}) {
        auto entry = Cooldown::enter(cooldown, at(now), rules);
        REQUIRE(entry.pass);
        entry.pass.answered(asked, at(now), rules);
    }
    void pause(Duration now, Duration length) { send_without_waiting(now, Asked{429, length}); }
    CooldownState state(Duration now) const { return cooldown->state(at(now)); }
};

} // namespace

TEST_CASE("of a hundred waiters one goes as the probe, and the others wait for its answer") {
    Scope scope;
    scope.pause(0s, 10s);
    for (int i = 0; i < 100; ++i)
        scope.arrive(i, 1s);

    scope.run(1s, 10s);
    CHECK(scope.gone.empty());
    CHECK(scope.state(9s).waiting == 100);
    scope.run(10s, 15s);

    CHECK(scope.gone == std::vector{0});
    CHECK(scope.when == std::vector{at(10s)});
    CHECK(scope.passes[0].is_probe());
    CHECK(scope.refused.empty());
    CHECK(scope.state(15s).waiting == 99);
}

TEST_CASE("after the probe the waiters go in the order they came, at the ramp's rate") {
    Scope scope;
    for (Duration now = 0s; now < 10s; now += 10ms) // 100 a second
        scope.send_without_waiting(now);
    scope.pause(10s, 10s);
    for (int i = 0; i < 100; ++i)
        scope.arrive(i, 11s + i * 1ms);
    scope.run(12s, 20500ms);
    REQUIRE(scope.gone.size() == 1);

    scope.answer(0, 20500ms);
    scope.run(20500ms, 21500ms);

    CHECK(scope.gone.size() == doctest::Approx(53).epsilon(0.1)); // 50 a second, and growing
    CHECK(std::ranges::is_sorted(scope.gone));
    scope.run(21500ms, 23s);
    CHECK(scope.gone.size() == 100);
    CHECK(std::ranges::is_sorted(scope.gone));
    CHECK(scope.refused.empty());
}

TEST_CASE("a newcomer does not overtake the waiters, whether it may wait or not") {
    Scope scope;
    scope.pause(0s, 10s);
    scope.arrive(1, 1s);
    scope.arrive(2, 2s);
    auto impatient = scope.rules;
    impatient.waits = false;

    CHECK(scope.cooldown->look(at(10s), scope.rules));
    CHECK_FALSE(Cooldown::enter(scope.cooldown, at(10s), impatient).pass);
    scope.arrive(3, 10s);
    CHECK(scope.gone.empty());
    scope.run(10s, 11s);
    CHECK(scope.gone == std::vector{1});

    scope.answer(0, 11s);
    CHECK_FALSE(Cooldown::enter(scope.cooldown, at(11s), impatient).pass);
    CHECK(scope.state(11s).refused == 2); // the two that could not wait
    scope.run(11s, 21s);
    CHECK(scope.gone == std::vector{1, 2, 3});
}

TEST_CASE("an open scope without a pace lets every request go") {
    Scope scope;
    scope.rules.ramp = 1ms;
    scope.pause(0s, 1s);
    for (int i = 0; i < 3; ++i)
        scope.arrive(i, 0s);
    scope.run(0s, 1001ms);
    scope.answer(0, 1001ms);

    CHECK(Cooldown::enter(scope.cooldown, at(1002ms), scope.rules).pass);
    scope.run(1001ms, 1003ms);
    CHECK(scope.gone == std::vector{0, 1, 2});
}

TEST_CASE("when the ramp is over, the remaining waiters go at once, however slow the rate was") {
    Scope scope;
    scope.rules.ramp = 1500ms;
    scope.pause(0s, 1s); // 1 a second before: the second waiter would go 2 s later
    for (int i = 0; i < 4; ++i)
        scope.arrive(i, 0s);
    scope.run(0s, 1s + 1ms);
    scope.answer(0, 1s);

    scope.run(1s, 2499ms);
    CHECK(scope.gone == std::vector{0, 1});
    scope.run(2499ms, 2501ms);

    CHECK(scope.gone == std::vector{0, 1, 2, 3});
}

TEST_CASE("a request for which the pause is known to be too long is refused at once") {
    Scope scope;
    scope.pause(0s, 70s);
    Waiting early{0};

    const auto refused = scope.attempt(early, 5s).refused;

    REQUIRE(refused);
    CHECK(refused->status == 429);
    CHECK(refused->wait == 65s);
    CHECK(scope.state(5s).waiting == 0);
    CHECK(scope.state(5s).refused == 1);
    scope.arrive(1, 10s);
    CHECK(scope.refused.empty());
}

TEST_CASE("a waiter waits no longer than it may, and is then told what remains") {
    Scope scope;
    scope.rules.max_wait = 15s;
    scope.pause(0s, 10s);
    scope.arrive(0, 0s);
    scope.arrive(1, 1s);
    scope.run(0s, 15999ms); // the probe is still under way
    CHECK(scope.refused.empty());

    scope.run(15999ms, 16001ms);

    CHECK(scope.refused == std::vector{1});
    CHECK(scope.state(17s).waiting == 0);
}

TEST_CASE("no more than so many wait, and a waiter that leaves frees its place") {
    Scope scope;
    scope.rules.max_waiting = 2;
    scope.pause(0s, 10s);
    scope.arrive(0, 0s);
    scope.arrive(1, 0s);
    scope.arrive(2, 0s);
    CHECK(scope.refused == std::vector{2});

    scope.cooldown->leave(*scope.standing[0]);
    scope.cooldown->leave(*scope.standing[0]);
    scope.standing.erase(scope.standing.begin());

    CHECK(scope.standing[0]->called); // it is the first now
    scope.arrive(3, 0s);
    CHECK(scope.refused == std::vector{2});
    CHECK(scope.state(1s).waiting == 2);
    scope.run(1s, 11s);
    CHECK(scope.gone == std::vector{1});
}

TEST_CASE("a probe that fails pauses again, and the others go on waiting as long as they may") {
    Scope scope;
    scope.rules.max_wait = 30s;
    scope.pause(0s, 10s);
    scope.arrive(0, 0s);
    scope.arrive(1, 1s);
    scope.arrive(2, 9s);
    scope.run(9s, 11500ms);

    scope.answer(
        0, 11500ms, Asked{503, 24500ms}); // until 36s: too long for the waiter that may until 31s
    scope.run(11500ms, 11501ms);

    CHECK(scope.refused == std::vector{1});
    CHECK(scope.state(12s).waiting == 1);
    scope.run(12s, 37s);
    CHECK(scope.gone == std::vector{0, 2});
    CHECK(scope.when[1] == at(36s));
    CHECK(scope.passes[1].is_probe());
}

TEST_CASE("a probe without an answer is replaced by the first waiter, at once") {
    Scope scope;
    scope.pause(0s, 10s);
    for (int i = 0; i < 3; ++i)
        scope.arrive(i, 0s);
    scope.run(0s, 12s);
    REQUIRE(scope.gone == std::vector{0});

    scope.passes[0] = {};
    scope.run(12s, 12001ms);

    CHECK(scope.gone == std::vector{0, 1});
    CHECK(scope.passes[1].is_probe());
}

TEST_CASE("waiters go at the pace that the upstream told") {
    Scope scope;
    scope.rules.learn = true;
    auto first = Cooldown::enter(scope.cooldown, at(0s), scope.rules).pass;
    first.answered(std::nullopt, at(0s), scope.rules);
    first.adapt(LearnedPace::Told{10, 10s}, at(0s));
    for (int i = 0; i < 5; ++i)
        scope.arrive(i, 0s);
    CHECK(scope.gone == std::vector{0});

    scope.run(0s, 3500ms);

    CHECK(scope.gone == std::vector{0, 1, 2, 3});
    CHECK_FALSE(Cooldown::enter(scope.cooldown, at(3999ms), scope.rules).pass);
    CHECK(scope.when[1] - scope.when[0] == 1s);
}
