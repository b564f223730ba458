#include "net/deadlines.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using stint::Duration;
using stint::SteadyTime;
using stint::net::Deadline;
using stint::net::Deadlines;

SteadyTime at(Duration since_start) {
    return SteadyTime{1'000'000s} + since_start;
}

struct Alarm : Deadline {
    Alarm() = default;
    Alarm(std::string text, std::string& record) : name{std::move(text)}, seen{&record} {}

    void on_deadline() noexcept override {
        ++calls;
        if (seen != nullptr)
            *seen += name;
        if (then)
            then();
    }

    std::string name;
    std::string* seen = nullptr;
    std::function<void()> then;
    int calls = 0;
};

} // namespace

TEST_CASE("a deadline is called when it is due and not before") {
    Deadlines deadlines;
    Alarm alarm;
    deadlines.arm(alarm, 100ms, at(0ms));

    deadlines.expire(at(100ms) - 1ns);
    CHECK(alarm.calls == 0);
    deadlines.expire(at(100ms));

    CHECK(alarm.calls == 1);
    CHECK_FALSE(alarm.armed());
    CHECK(deadlines.empty());
}

TEST_CASE("a deadline that arms itself again waits for the next look, however late this one is") {
    Deadlines deadlines;
    Alarm alarm;
    alarm.then = [&] {
        if (alarm.calls < 5)
            deadlines.arm(alarm, 100ms, at(0ms));
    };
    deadlines.arm(alarm, 100ms, at(0ms));

    deadlines.expire(at(1h));
    CHECK(alarm.calls == 1);
    deadlines.expire(at(1h));

    CHECK(alarm.calls == 2);
}

TEST_CASE("a deadline is called once") {
    Deadlines deadlines;
    Alarm alarm;
    deadlines.arm(alarm, 100ms, at(0ms));

    deadlines.expire(at(1s));
    deadlines.expire(at(2s));

    CHECK(alarm.calls == 1);
}

TEST_CASE("equal lengths are due in the order in which they were armed") {
    Deadlines deadlines;
    std::string seen;
    Alarm first{"a", seen};
    Alarm second{"b", seen};
    Alarm third{"c", seen};
    deadlines.arm(second, 1s, at(0ms));
    deadlines.arm(third, 1s, at(1ms));
    deadlines.arm(first, 1s, at(2ms));

    deadlines.expire(at(1001ms));
    CHECK(seen == "bc");
    deadlines.expire(at(1002ms));

    CHECK(seen == "bca");
}

TEST_CASE("a short length is not held up by a long one that was armed before") {
    Deadlines deadlines;
    std::string seen;
    Alarm patient{"p", seen};
    Alarm hasty{"h", seen};
    deadlines.arm(patient, 60s, at(0ms));
    deadlines.arm(hasty, 1ms, at(1ms));

    deadlines.expire(at(2ms));

    CHECK(seen == "h");
    CHECK(patient.armed());
}

TEST_CASE("arming again replaces the deadline, with the same or another length") {
    Duration again{};
    SUBCASE("same length") {
        again = 100ms;
    }
    SUBCASE("another length") {
        again = 300ms;
    }
    Deadlines deadlines;
    Alarm alarm;
    deadlines.arm(alarm, 100ms, at(0ms));

    deadlines.arm(alarm, again, at(50ms));

    deadlines.expire(at(50ms) + again - 1ns);
    CHECK(alarm.calls == 0);
    deadlines.expire(at(50ms) + again);
    CHECK(alarm.calls == 1);
}

TEST_CASE("a disarmed deadline is not called, and disarming twice is harmless") {
    Deadlines deadlines;
    Alarm alarm;
    deadlines.arm(alarm, 100ms, at(0ms));

    alarm.disarm();
    alarm.disarm();

    CHECK_FALSE(alarm.armed());
    CHECK(deadlines.empty());
    deadlines.expire(at(1s));
    CHECK(alarm.calls == 0);
}

TEST_CASE("what is due may disarm others that are due at the same time") {
    Deadlines deadlines;
    Alarm first;
    Alarm same_length;
    Alarm other_length;
    deadlines.arm(first, 100ms, at(0ms));
    deadlines.arm(same_length, 100ms, at(0ms));
    deadlines.arm(other_length, 50ms, at(50ms));
    first.then = [&] {
        CHECK_FALSE(first.armed());
        same_length.disarm();
        other_length.disarm();
    };

    deadlines.expire(at(100ms));

    CHECK(first.calls == 1);
    CHECK(same_length.calls == 0);
    CHECK(other_length.calls == 0);
}

TEST_CASE("what is due may destroy itself and others") {
    Deadlines deadlines;
    auto doomed = std::make_unique<Alarm>();
    auto neighbour = std::make_unique<Alarm>();
    Alarm last;
    deadlines.arm(*doomed, 100ms, at(0ms));
    deadlines.arm(*neighbour, 100ms, at(0ms));
    deadlines.arm(last, 100ms, at(0ms));
    // Moved out first: the function that runs must not be destroyed with the alarm that holds it.
    doomed->then = [&] {
        const auto keep = std::move(doomed->then);
        neighbour.reset();
    };

    deadlines.expire(at(100ms));

    CHECK(doomed->calls == 1);
    CHECK(last.calls == 1);
    CHECK(deadlines.empty());
}

TEST_CASE("what is due may arm itself again and is called at its next time") {
    Deadlines deadlines;
    Alarm alarm;
    SteadyTime now = at(100ms);
    alarm.then = [&] { deadlines.arm(alarm, 100ms, now); };
    deadlines.arm(alarm, 100ms, at(0ms));

    deadlines.expire(now);
    CHECK(alarm.calls == 1);
    CHECK(alarm.armed());
    now = at(200ms);
    deadlines.expire(now);

    CHECK(alarm.calls == 2);
}

TEST_CASE("new lengths may be armed while others expire") {
    Deadlines deadlines;
    Alarm first;
    Alarm grown[64];
    first.then = [&] {
        Duration length = 1s;
        for (Alarm& each : grown)
            deadlines.arm(each, length += 1ms, at(100ms));
    };
    Alarm second;
    deadlines.arm(first, 100ms, at(0ms));
    deadlines.arm(second, 100ms, at(0ms));

    deadlines.expire(at(100ms));
    CHECK(second.calls == 1);
    deadlines.expire(at(10s));

    for (const Alarm& each : grown)
        CHECK(each.calls == 1);
    CHECK(deadlines.empty());
}

TEST_CASE("destroying an armed deadline takes it off its list") {
    Deadlines deadlines;
    Alarm stays;
    deadlines.arm(stays, 100ms, at(0ms));
    {
        Alarm goes;
        deadlines.arm(goes, 100ms, at(0ms));
    }

    deadlines.expire(at(1s));

    CHECK(stays.calls == 1);
    CHECK(deadlines.empty());
}

TEST_CASE("a clock that stands behind what was read before delays nobody else") {
    Deadlines deadlines;
    std::string seen;
    Alarm ahead{"a", seen};
    Alarm behind{"b", seen};
    deadlines.arm(ahead, 1s, at(10ms));
    deadlines.arm(behind, 1s, at(6ms)); // a coarse clock's tick earlier

    deadlines.expire(at(1006ms));
    CHECK(seen.empty()); // at most that one tick late, never out of order
    deadlines.expire(at(1010ms));

    CHECK(seen == "ab");
}

TEST_CASE("many former lengths are forgotten without losing what is still armed") {
    Deadlines deadlines;
    Alarm still_waiting;
    deadlines.arm(still_waiting, 1h, at(0ms));
    for (int i = 1; i <= 40; ++i) {
        Alarm passing;
        deadlines.arm(passing, i * 1ms, at(0ms));
    }
    deadlines.expire(at(1s));

    Alarm later;
    deadlines.arm(later, 7ms, at(1s));
    deadlines.expire(at(2s));
    CHECK(later.calls == 1);
    deadlines.expire(at(1h));

    CHECK(still_waiting.calls == 1);
}
