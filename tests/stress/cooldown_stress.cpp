// One scope, asked by several threads at once: nobody is forgotten in its line. Time is virtual and
// moves on with every question.
#include "limits/cooldown/cooldown.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;

constexpr int threads = 4;
constexpr int requests = 1'000; // of each thread

struct Waiting final : CooldownWaiter {
    void call() noexcept override { called.store(true); }

    std::atomic<bool> called{true};
};

struct Shared {
    CooldownPtr cooldown = std::make_shared<Cooldown>("target");
    CooldownRules rules{};
    std::atomic<Duration::rep> clock{0};
    std::atomic<int> sent{0};
    std::atomic<int> refused{0};

    Shared() {
        rules.most = 10s;
        rules.ramp = 500us;
        rules.waits = true;
        rules.max_wait = 1h;
        rules.max_waiting = 1000;
    }
    SteadyTime now() { return SteadyTime{1000s} + Duration{clock.fetch_add(1000)}; }
};

void send(Shared& all, Cooldown::Pass pass, std::mt19937& random) {
    ++all.sent;
    std::this_thread::yield();
    if (const auto fate = random() % 20; fate == 0) // no answer
        pass = {};
    else if (fate == 1)
        pass.answered(Cooldown::Pass::Asked{429, Duration{100us}}, all.now(), all.rules);
    else
        pass.answered(std::nullopt, all.now(), all.rules);
}

// Asks only when it has been called, or its time has come.
void run_one(Shared& all, std::mt19937& random) {
    Waiting waiting;
    SteadyTime again{};
    for (const bool impatient = random() % 50 == 0;;) {
        const SteadyTime now = all.now();
        if (!waiting.called.exchange(false) && now < again) {
            std::this_thread::yield();
            continue;
        }
        auto attempt = Cooldown::attempt(all.cooldown, waiting, now, all.rules);
        if (attempt.pass)
            return send(all, std::move(attempt.pass), random);
        if (attempt.refused || impatient) {
            ++all.refused;
            return all.cooldown->leave(waiting);
        }
        // Who has no instant to wait for is called: the second that it is told is a safety net.
        again = attempt.again < now + 900ms ? attempt.again : SteadyTime::max();
    }
}

} // namespace

TEST_CASE("threads that wait for one scope all go") {
    Shared all;
    std::vector<std::thread> running;
    for (unsigned i = 0; i < threads; ++i)
        running.emplace_back([&all, i] {
            std::mt19937 random{i};
            for (int n = 0; n < requests; ++n)
                run_one(all, random);
        });
    for (std::thread& each : running)
        each.join();

    CHECK(all.sent + all.refused == threads * requests);
    CHECK(all.sent > threads * requests / 2);
    CHECK(all.cooldown->state(all.now()).waiting == 0);
}
