#include "fixture.hpp"
#include "limits/counter/tally.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

TEST_CASE("a limit that is not enforced refuses nothing, and says what it would have refused") {
    Limit limit{window(1s)};
    const Charge shadow{.limit = &limit, .quota = 1, .enforce = false};
    CHECK(admit_all({shadow}, at(0s)).would_refuse == 0);

    const Decision second = admit_all({shadow}, at(0s));

    CHECK(second.allowed());
    CHECK(second.would_refuse == 1);
    CHECK(limit.dry_run().would_refuse() == 1);
    CHECK(limit.refused() == 0);
    CHECK(state(limit, at(0s)).used == 1);
}

TEST_CASE("a request that an enforced limit refuses is not charged to one that is not") {
    Limit shadow{window(1s)};
    Limit enforced{window(1s)};
    const Charge charges[] = {
        {.limit = &shadow, .quota = 5, .enforce = false}, {.limit = &enforced, .quota = 1}};
    REQUIRE(admit(charges, at(0s)).allowed());

    const Decision refused = admit(charges, at(0s));

    CHECK(refused.refused_by == 1);
    CHECK(refused.would_refuse == 0);
    CHECK(state(shadow, at(0s)).used == 1);
}

TEST_CASE("of several limits those that are not enforced are told from those with room") {
    Limit full{window(1s)};
    Limit roomy{window(1s)};
    Limit enforced{window(1s)};
    const Charge charges[] = {
        {.limit = &full, .quota = 1, .enforce = false},
        {.limit = &roomy, .quota = 5, .enforce = false},
        {.limit = &enforced, .quota = 5}};
    REQUIRE(admit(charges, at(0s)).would_refuse == 0);

    CHECK(admit(charges, at(0s)).would_refuse == 1);
    CHECK(state(full, at(0s)).used == 1);
    CHECK(state(roomy, at(0s)).used == 2);
    CHECK(state(enforced, at(0s)).used == 2);
}

TEST_CASE("a full cap that is not enforced is not held") {
    Limit limit{cap()};
    const Charge shadow{.limit = &limit, .quota = 1, .enforce = false};
    Decision first = admit_all({shadow}, at(0s));
    REQUIRE(first.permit.holds_slots());

    const Decision second = admit_all({shadow}, at(0s));

    CHECK(second.would_refuse == 1);
    CHECK_FALSE(second.permit.holds_slots());
    CHECK(limit.in_flight() == 1);
}

TEST_CASE("the states of all counters are told with the decision when asked for") {
    Limit requests{window(1s)};
    Limit slots{cap()};
    const Charge charges[] = {{.limit = &requests, .quota = 3}, {.limit = &slots, .quota = 1}};
    ChargeState states[2];

    const Decision first = admit(charges, at(0s), states);
    CHECK(states[0].counter.remaining == 2);
    CHECK(states[0].counter.resets_in == 1s);
    CHECK(states[1].counter.remaining == 0);
    CHECK(states[1].refusal == Refusal::none);

    const Decision refused = admit(charges, at(400ms), states);
    CHECK_FALSE(refused.allowed());
    CHECK(states[0].counter.used == 1);
    CHECK(states[0].counter.resets_in == 600ms);
    CHECK(states[0].refusal == Refusal::none);
    CHECK(states[1].refusal == Refusal::cap);
}

TEST_CASE("the state of a key that was never charged is that of an unused counter") {
    Limit keys{keyed_window(1s, 100)};
    Limit full{window(1s)};
    REQUIRE(admit_one(full, 1, at(0s)).allowed());
    const Charge charges[] = {{.limit = &keys, .key = key(1), .quota = 3}, {&full, {}, 1}};
    ChargeState states[2];

    REQUIRE_FALSE(admit(charges, at(0s), states).allowed());

    CHECK(states[0].counter.used == 0);
    CHECK(states[0].counter.remaining == 3);
    CHECK(states[0].counter.resets_in == 0s);
}

TEST_CASE("a limit that is not enforced would let wait what it has room for in time") {
    Limit by_window{window(10s)};
    const Charge one{.limit = &by_window, .quota = 1, .enforce = false};
    REQUIRE(admit_all({one}, at(0s)).would_refuse == 0);

    CHECK(would_wait(one, 6s, at(4s)));
    CHECK_FALSE(would_wait(one, 6s - 1ns, at(4s)));
    CHECK(state(by_window, at(4s)).used == 1);
    Charge costly = one;
    costly.cost = 2;
    CHECK_FALSE(would_wait(costly, 1h, at(4s)));
}

TEST_CASE("an admission that would have waited is not one that would have been refused") {
    Limit limit{window(1s)};
    const Charge shadow{.limit = &limit, .quota = 1, .enforce = false};
    for (int i = 0; i < 3; ++i)
        (void)admit_all({shadow}, at(0s));
    REQUIRE(limit.dry_run().would_refuse() == 2);

    limit.dry_run().count_wait();

    CHECK(limit.dry_run().would_refuse() == 1);
    CHECK(limit.dry_run().would_wait() == 1);
}
