#include "fixture.hpp"
#include "limits/reservation/slot_ledger.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

SteadyTime when(Duration since_start) {
    return at(since_start).steady;
}

// One after the other, each as early as may be; of which client it is does not matter.
SteadyTime give(SlotLedger& ledger, std::uint64_t number, std::uint64_t cost = 1) {
    const SteadyTime instant = ledger.next_at(when(10s), cost, 6, 10s);
    REQUIRE(ledger.give(number, {instant, cost, key(number)}));
    return instant;
}

} // namespace

TEST_CASE("slots of one follow each other at the window and its grace, parted by the quota") {
    SlotLedger ledger;

    for (std::uint64_t number = 1; number <= 20; ++number)
        CHECK(give(ledger, number) == when(10s + static_cast<int>(number - 1) * 2s));
}

TEST_CASE("a slot keeps its distance by its own cost and its neighbour's") {
    SlotLedger ledger;

    CHECK(give(ledger, 1, 2) == when(10s));
    CHECK(give(ledger, 2, 3) == when(18s)); // (2 + 3 - 1) * 2 s
    CHECK(give(ledger, 3, 6) == when(34s));
    CHECK(give(ledger, 4, 6) == when(56s));
}

TEST_CASE("no window, whenever it opens, meets slots that cost more than the quota") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        const std::uint64_t quota = 1 + random() % 40;
        const Duration per = 1ms * (1 + random() % 20'000);
        SlotLedger ledger;
        std::vector<SlotLedger::Slot> given;
        SteadyTime earliest = when(0s);
        for (std::uint64_t number = 1; number <= 150; ++number) {
            earliest += 1us * (random() % 100'000);
            const std::uint64_t cost = random() % 3 == 0 ? 1 + random() % quota : 1;
            const SteadyTime instant = ledger.next_at(earliest, cost, quota, per);
            given.push_back({instant, cost, {}});
            REQUIRE(instant >= earliest);
            REQUIRE(ledger.give(number, given.back()));
        }

        for (std::size_t first = 0; first < given.size(); ++first) {
            std::uint64_t sum = 0;
            for (std::size_t i = first; i < given.size(); ++i)
                if (given[i].at < given[first].at + per + SlotLedger::grace)
                    sum += given[i].cost;
            REQUIRE(sum <= quota);
        }
    }
}

TEST_CASE("what is held before an end is the slots there, whichever end is asked for") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        SlotLedger ledger;
        std::uint64_t number = 0;
        Duration now = 0s;
        for (int step = 0; step < 400; ++step) {
            now += 1ms * (random() % 700);
            ledger.forget(when(now));
            const auto& slots = ledger.slots();
            if (random() % 3 == 0 && !slots.empty())
                ledger.take(
                    std::next(slots.begin(), static_cast<std::ptrdiff_t>(random() % slots.size()))
                        ->first);
            if (random() % 2 == 0) {
                const SteadyTime instant = ledger.next_at(when(now + 1s), 1, 3, 1s);
                REQUIRE(ledger.give(++number, {instant, 1 + random() % 3, key(random() % 4)}));
            }
            const SteadyTime end = when(now + 1ms * (random() % 5000));
            std::uint64_t held = 0;
            std::uint64_t of_client = 0;
            for (const auto& [each, slot] : slots) {
                held += slot.at < end ? slot.cost : 0;
                of_client += slot.client == key(1) ? slot.cost : 0;
            }
            REQUIRE(ledger.held_before(end) == held);
            REQUIRE(ledger.cost_of(key(1)) == of_client);
        }
    }
}

TEST_CASE("a client's slot is claimable from its instant to the end of its grace") {
    SlotLedger ledger;
    REQUIRE(ledger.give(7, {when(10s), 1, key(1)}));
    REQUIRE(ledger.give(8, {when(11s), 1, key(1)}));

    CHECK(ledger.claimable_by(key(1), when(10s - 1ns)) == 0);
    CHECK(ledger.claimable_by(key(2), when(10s)) == 0);
    CHECK(ledger.claimable_by(key(1), when(12s)) == 7);
    CHECK(ledger.forget(when(12s)) == 0);
    CHECK(ledger.forget(when(12s + 1ns)) == 1);
    CHECK(ledger.claimable_by(key(1), when(12s + 1ns)) == 8);
}

TEST_CASE("quota is held for the slots that are left, in whatever order they go") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        SlotLedger ledger;
        for (std::uint64_t number = 1; number <= 40; ++number) {
            give(ledger, number, 1 + random() % 3);
            const std::uint64_t some = 1 + random() % number;
            if (random() % 3 == 0)
                (void)ledger.forget(when(std::chrono::seconds{random() % 40}));
            else if (ledger.slots().contains(some))
                ledger.take(some);
            const SteadyTime end = when(std::chrono::seconds{random() % 200});
            std::uint64_t held = 0;
            for (const auto& [each, slot] : ledger.slots())
                held += slot.at < end ? slot.cost : 0;
            REQUIRE(ledger.held_before(end) == held);
        }
    }
}
