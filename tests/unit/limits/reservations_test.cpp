#include "fixture.hpp"
#include "limits/reservation/reservations.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

struct Asked {
    Decision decision;
    std::uint64_t slot;
    Duration retry_after() const { return decision.retry_after; }
    bool allowed() const { return decision.allowed(); }
};

struct By {
    Hash128 client = key(1);
    std::uint64_t ticket = 0;
    std::uint64_t cost = 1;
    Hash128 counter{};
};

Asked ask(Limit& limit, std::uint64_t quota, const Now& now, const By& by = {}) {
    std::array charges{Charge{.limit = &limit, .key = by.counter, .quota = quota, .cost = by.cost}};
    std::array reserving{Reservation{.charge = 0, .client = by.client, .ticket = by.ticket}};
    Decision decision = admit_reserving(charges, reserving, now);
    return {std::move(decision), reserving[0].slot};
}

void use_up(Limit& limit, std::uint64_t quota, const Now& now) {
    while (admit_one(limit, quota, now).allowed())
        ;
}

} // namespace

TEST_CASE("each refused request is told an instant of its own after the open window") {
    Limit limit{window(10s)};
    use_up(limit, 6, at(0s));

    for (int i = 0; i < 20; ++i) {
        const Asked refused = ask(limit, 6, at(1s), {key(static_cast<std::uint64_t>(i))});
        CHECK(refused.slot != 0);
        CHECK(refused.retry_after() == 9s + i * 2s);
        CHECK(refused.decision.refused_by == 0);
    }
    CHECK(limit.refused() == 21); // and the one that found it used up
    CHECK(limit.reservations().out(at(1s).steady) == 20);
    CHECK(limit.reservations().given() == 20);
}

TEST_CASE("a slot is claimed by its number, once") {
    Limit limit{window(10s)};
    use_up(limit, 1, at(0s));
    const std::uint64_t slot = ask(limit, 1, at(0s)).slot;

    CHECK(ask(limit, 1, at(11s), {key(9), slot}).allowed());
    CHECK_FALSE(ask(limit, 1, at(11s), {key(9), slot}).allowed());
    CHECK(limit.reservations().claimed() == 1);
}

TEST_CASE("a request without a ticket claims the earliest slot of its client, each slot once") {
    Limit limit{window(10s)};
    use_up(limit, 12, at(0s));
    for (int i = 0; i < 3; ++i) // one second apart
        CHECK(ask(limit, 12, at(0s), {key(5)}).slot != 0);
    use_up(limit, 9, at(10s)); // others take what is not held

    CHECK_FALSE(ask(limit, 12, at(11s), {key(6)}).allowed());
    CHECK(ask(limit, 12, at(11s), {key(5)}).allowed());
    CHECK(ask(limit, 12, at(11s), {key(5)}).allowed());
    CHECK_FALSE(ask(limit, 12, at(11s), {key(5)}).allowed()); // the third is of 12 s
}

TEST_CASE("a request that comes too early with a ticket is told the same slot and keeps it") {
    Limit limit{window(10s)};
    use_up(limit, 1, at(0s));
    const std::uint64_t slot = ask(limit, 1, at(0s)).slot;

    const Asked early = ask(limit, 1, at(4s), {key(1), slot});

    CHECK(early.slot == slot);
    CHECK(early.retry_after() == 6s);
    CHECK(limit.reservations().out(at(4s).steady) == 1);
    CHECK(ask(limit, 1, at(10s), {key(1), slot}).allowed());
}

TEST_CASE(
    "a client that comes too early without a ticket gets another slot, up to the quota of slots") {
    Limit limit{window(10s)};
    use_up(limit, 3, at(0s));
    for (int i = 0; i < 3; ++i)
        CHECK(ask(limit, 3, at(1s)).slot != 0);

    const Asked beyond = ask(limit, 3, at(1s));

    CHECK(beyond.slot == 0);
    CHECK(beyond.retry_after() == 9s + 3 * 4s); // when the next would have been
    CHECK(limit.reservations().missed() == 0);
    const Asked other = ask(limit, 3, at(1s), {key(2)});
    CHECK(other.slot != 0);
    CHECK(other.retry_after() == 9s + 3 * 4s); // delayed by one window and its grace
}

TEST_CASE("early, but there is room beside what is held: admitted, and the slot is free") {
    Limit limit{window(10s)};
    use_up(limit, 3, at(0s));
    const std::uint64_t slot = ask(limit, 3, at(0s)).slot;
    const std::uint64_t later = ask(limit, 3, at(0s), {key(2)}).slot; // of 14 s

    CHECK(ask(limit, 3, at(11s), {key(2), later}).allowed());
    CHECK(ask(limit, 3, at(11s), {key(1), slot}).allowed());
    CHECK(limit.reservations().out(at(11s).steady) == 0);
}

TEST_CASE("a number that was never given makes no difference") {
    Limit limit{window(10s)};
    CHECK(ask(limit, 1, at(0s), {key(1), 17}).allowed());

    CHECK_FALSE(ask(limit, 1, at(1s), {key(2), 17}).allowed());
    CHECK_FALSE(ask(limit, 1, at(10s), {key(3), 17}).allowed()); // held for key(2)
}

TEST_CASE("requests without a slot get what is not held") {
    Limit limit{window(10s)};
    use_up(limit, 3, at(0s));
    CHECK(ask(limit, 3, at(0s), {key(1)}).slot != 0); // of 10 s
    CHECK(ask(limit, 3, at(0s), {key(2)}).slot != 0); // of 14 s

    std::array charges{Charge{.limit = &limit, .quota = 3}};
    std::array reserving{Reservation{.client = key(9)}};
    std::array<ChargeState, 1> states;
    CHECK(admit_reserving(charges, reserving, at(10s), states).allowed());
    CHECK(states[0].counter.used == 1);
    CHECK(states[0].counter.remaining == 0);
    CHECK_FALSE(ask(limit, 3, at(10s), {key(9)}).allowed());
    CHECK(ask(limit, 3, at(11s), {key(1)}).allowed());
    CHECK(ask(limit, 3, at(14s), {key(2)}).allowed());
}

TEST_CASE("an unclaimed slot is free for all requests when its grace is over") {
    for (const bool over : {false, true}) {
        Limit limit{window(10s)};
        use_up(limit, 1, at(0s));
        const std::uint64_t slot = ask(limit, 1, at(0s)).slot;

        CHECK(ask(limit, 1, at(12s + (over ? 1ns : 0ns)), {key(2)}).allowed() == over);
        CHECK(ask(limit, 1, at(12s + (over ? 1ns : 0ns)), {key(1), slot}).allowed() == !over);
    }
}

TEST_CASE("an empty window of the clock holds only what lies before its own end") {
    Limit limit{window(10s, Anchor::clock)}; // the fixture's wall clock is at a multiple of it
    use_up(limit, 1, at(0s));
    CHECK(ask(limit, 1, at(1s)).retry_after() == 9s);
    CHECK(ask(limit, 1, at(1s)).retry_after() == 21s);

    CHECK_FALSE(ask(limit, 1, at(11s), {key(2)}).allowed());
    CHECK(ask(limit, 1, at(13s), {key(2)}).allowed()); // that of 10 s is over, that of 22 s later
}

TEST_CASE("a refusal by another limit leaves the slot, and gives none") {
    Limit reserving{window(10s)};
    Limit other{window(1s)};
    use_up(reserving, 1, at(0s));
    const std::uint64_t slot = ask(reserving, 1, at(0s)).slot;
    use_up(other, 1, at(10s));
    std::array charges{
        Charge{.limit = &reserving, .quota = 1}, Charge{.limit = &other, .quota = 1}};
    std::array asked{Reservation{.charge = 0, .client = key(1), .ticket = slot}};

    const Decision refused = admit_reserving(charges, asked, at(10s));

    CHECK(refused.refused_by == 1);
    CHECK(asked[0].slot == 0);
    CHECK(admit_reserving(charges, asked, at(11s)).allowed());
}

TEST_CASE("several limits that reserve give their slots at one instant") {
    Limit narrow{window(10s)};
    Limit wide{window(20s)};
    use_up(narrow, 1, at(0s));
    use_up(wide, 2, at(5s));
    std::array charges{Charge{.limit = &narrow, .quota = 1}, Charge{.limit = &wide, .quota = 2}};
    const auto ask_both = [&](const Now& now, Hash128 client) {
        std::array asked{Reservation{0, client}, Reservation{1, client}};
        return admit_reserving(charges, asked, now);
    };
    CHECK(ask_both(at(6s), key(1)).retry_after == 19s);       // the later one's end
    CHECK(ask_both(at(6s), key(2)).retry_after == 19s + 12s); // the slower one's pace

    CHECK(ask_both(at(25s), key(1)).allowed());
    CHECK(ask_both(at(37s), key(2)).allowed());
    CHECK(narrow.reservations().out(at(37s).steady) == 0);
    CHECK(wide.reservations().out(at(37s).steady) == 0);
}

TEST_CASE(
    "a lowered quota holds for slots given before, and a request it refuses gets another slot") {
    Limit limit{window(10s)};
    use_up(limit, 6, at(0s));
    std::vector<std::uint64_t> slots;
    for (std::uint64_t i = 0; i < 6; ++i)
        slots.push_back(ask(limit, 6, at(0s), {key(i)}).slot);

    std::vector<Duration> told;
    for (std::uint64_t i = 0; i < 6; ++i)
        if (const Asked asked = ask(limit, 2, at(10s + i * 2s), {key(i), slots[i]});
            !asked.allowed()) {
            CHECK(asked.slot != slots[i]);
            told.push_back(asked.retry_after());
        }

    CHECK(told.size() == 3); // two in the window of 10 s, one in that of 20 s
    CHECK(limit.reservations().out(at(20s).steady) == 3);
}

TEST_CASE("a request that costs more than the limit ever has gets no slot") {
    Limit limit{window(10s)};
    use_up(limit, 3, at(0s));

    const Asked refused = ask(limit, 3, at(0s), {key(1), 0, 4});

    CHECK(refused.decision.refusal == Refusal::cost);
    CHECK(refused.slot == 0);
}

TEST_CASE("a slot of one does not admit a request that costs what is held for others") {
    Limit limit{window(10s)};
    use_up(limit, 3, at(0s));
    const std::uint64_t slot = ask(limit, 3, at(0s), {key(1)}).slot;
    CHECK(ask(limit, 3, at(0s), {key(2), 0, 2}).slot != 0); // of 18 s

    CHECK_FALSE(ask(limit, 3, at(10s), {key(3), 0, 1}).allowed());
    CHECK_FALSE(ask(limit, 3, at(10s), {key(4), slot, 2}).allowed());
    CHECK(ask(limit, 3, at(18s), {key(2), 0, 2}).allowed());
}

TEST_CASE("no more slots are out than there may be, and those of counters left alone make room") {
    Limit limit{keyed_window(1s, 1'000'000)};
    const auto ask_of = [&](std::uint64_t counter, const Now& now) {
        return ask(limit, 1, now, {key(1), 0, 1, key(counter)});
    };
    for (std::uint64_t i = 0; i < Reservations::most_slots; ++i) {
        (void)ask_of(i, at(0s));
        REQUIRE(ask_of(i, at(0s)).slot != 0);
    }
    (void)ask_of(100'000, at(0s));

    const Asked refused = ask_of(100'000, at(0s));

    CHECK_FALSE(refused.allowed());
    CHECK(refused.slot == 0);
    CHECK(refused.retry_after() == 1s);
    CHECK(limit.reservations().missed() == 1);
    (void)ask_of(100'001, at(10s));
    CHECK(ask_of(100'001, at(10s)).slot != 0);
    CHECK(limit.reservations().out(at(10s).steady) == 1);
}

TEST_CASE("no slot is given for a year that nobody lives to see") {
    Limit limit{window(std::chrono::days{300})};
    use_up(limit, 1, at(0s));

    CHECK(ask(limit, 1, at(0s), {key(1)}).slot != 0);
    const Asked refused = ask(limit, 1, at(0s), {key(2)});
    CHECK(refused.slot == 0);
    CHECK(refused.retry_after() > std::chrono::days{599});
    CHECK(limit.reservations().missed() == 1);
}
