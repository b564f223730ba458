#include "limits/cooldown/learned_pace.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <optional>
#include <ostream>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;
using Told = LearnedPace::Told;

SteadyTime at(Duration since_start) {
    return SteadyTime{1000s} + since_start;
}

// One request whose answer comes at once.
bool ask(LearnedPace& pace, Duration when, const std::optional<Told>& told = std::nullopt) {
    if (pace.wait(at(when)) > 0s)
        return false;
    pace.answered(pace.sent(at(when)), told, at(when));
    return true;
}

} // namespace

TEST_CASE("nothing is paced before anything is told") {
    LearnedPace pace;

    for (int i = 0; i < 100; ++i)
        CHECK(ask(pace, 0s));
}

TEST_CASE("what is left is spread over the time until there is more") {
    LearnedPace pace;
    CHECK(ask(pace, 0s, Told{10, 10s}));

    int sent = 0;
    Duration last = -1s;
    for (Duration when = 0s; when < 10s; when += 10ms)
        if (ask(pace, when)) {
            CHECK(when - last >= 990ms);
            last = when;
            ++sent;
        }

    CHECK(sent == 10);
}

TEST_CASE("when nothing is left everything waits for the reset") {
    LearnedPace pace;
    CHECK(ask(pace, 0s, Told{0, 7s}));

    CHECK(pace.wait(at(2s)) == 5s);
}

TEST_CASE("after the reset one request asks for the next numbers") {
    LearnedPace pace;
    CHECK(ask(pace, 0s, Told{0, 7s}));

    const bool scout = pace.sent(at(7s));
    CHECK(scout);
    CHECK(pace.wait(at(7s)) > 0s);
    pace.answered(scout, Told{5, 10s}, at(8s));
    CHECK(pace.wait(at(8s)) == 0s);
    CHECK(pace.left() == 5);
}

TEST_CASE("a scout that is lost is replaced") {
    LearnedPace pace;
    CHECK(ask(pace, 0s, Told{0, 7s}));
    pace.lost(pace.sent(at(7s)));

    CHECK(pace.wait(at(8s)) == 0s);
    CHECK(pace.sent(at(8s)));
}

TEST_CASE("a scout that is told nothing ends the pacing") {
    LearnedPace pace;
    CHECK(ask(pace, 0s, Told{0, 7s}));
    CHECK(ask(pace, 7s));

    CHECK_FALSE(pace.known());
    CHECK(ask(pace, 7s));
    CHECK(ask(pace, 7s));
}

TEST_CASE("requests under way are taken off what is told") {
    LearnedPace pace;
    for (int i = 0; i < 4; ++i)
        CHECK_FALSE(pace.sent(at(0s)));

    pace.answered(false, Told{10, 10s}, at(0s));

    CHECK(pace.left() == 7);
}

TEST_CASE("within a window the number only falls, in whatever order answers come") {
    LearnedPace pace;
    for (int i = 0; i < 3; ++i)
        (void)pace.sent(at(0s));
    pace.answered(false, Told{4, 10s}, at(0s));
    const auto after_first = pace.left();
    pace.answered(false, Told{5, 10s}, at(100ms));

    CHECK(pace.left() == after_first);
}

// A fixed window at the upstream, answers that take their time and resets in whole seconds.
TEST_CASE("an upstream that tells its window is not overrun after the first answer") {
    LearnedPace pace;
    constexpr int quota = 20;
    constexpr Duration window = 5s;
    struct Answer {
        Duration at;
        bool scout;
        Told told;
    };
    std::deque<Answer> answers;
    Duration end{};
    int used = 0;
    int refused = 0;
    int served = 0;
    for (Duration now = 0s; now < 60s; now += 1ms) {
        while (!answers.empty() && answers.front().at <= now) {
            pace.answered(answers.front().scout, answers.front().told, at(now));
            answers.pop_front();
        }
        if (pace.wait(at(now)) > 0s || (!pace.known() && !answers.empty()))
            continue;
        const bool scout = pace.sent(at(now));
        if (now >= end) {
            end = now + window;
            used = 0;
        }
        used < quota ? ++used, ++served : ++refused;
        answers.push_back(
            {now + 30ms,
             scout,
             {static_cast<std::uint64_t>(quota - used),
              std::chrono::ceil<std::chrono::seconds>(end - now)}});
    }

    CHECK(refused == 0);
    CHECK(served > 60 / 6 * (quota - 2)); // resets in whole seconds cost up to one of five
}
