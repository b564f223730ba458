#include "fixture.hpp"
#include "limits/counter/tally.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

TEST_CASE("a cap admits as many as may be in flight and not one more") {
    Limit limit{cap()};
    const Decision first = admit_one(limit, 2, at(0s));
    const Decision second = admit_one(limit, 2, at(0s));

    CHECK(second.allowed());
    CHECK(admit_one(limit, 2, at(0s)).refusal == Refusal::cap);
    CHECK(limit.in_flight() == 2);
}

TEST_CASE("a destroyed permit frees its slot") {
    Limit limit{cap()};
    {
        const Decision held = admit_one(limit, 1, at(0s));
        REQUIRE(held.permit.holds_slots());
    }

    CHECK(limit.in_flight() == 0);
    CHECK(admit_one(limit, 1, at(0s)).allowed());
}

TEST_CASE("a released permit frees its slot once") {
    Limit limit{cap()};
    Decision first = admit_one(limit, 2, at(0s));
    const Decision second = admit_one(limit, 2, at(0s));

    first.permit.release(at(1s));
    first.permit.release(at(1s));

    CHECK_FALSE(first.permit.holds_slots());
    CHECK(limit.in_flight() == 1);
}

TEST_CASE("early slots are freed early, and the others stay") {
    Limit held{cap()};
    Limit early{cap()};
    const Charge charges[] = {
        {.limit = &held, .quota = 1}, {.limit = &early, .quota = 1, .release_on_upgrade = true}};
    Decision decision = admit(charges, at(0s));
    REQUIRE(decision.allowed());

    decision.permit.release_early(at(4s));
    decision.permit.release_early(at(9s));

    CHECK(early.in_flight() == 0);
    CHECK(held.in_flight() == 1);
    CHECK(decision.permit.holds_slots());
    const Decision next = admit(charges, at(4s));
    CHECK(next.refused_by == 0);
    // It was held for 4 s, which the estimate has learnt.
    const Decision only = admit_one(early, 1, at(4s));
    CHECK(admit_one(early, 1, at(4s)).retry_after == 4s);

    decision.permit.release(at(9s));
    CHECK(held.in_flight() == 0);
    CHECK(early.in_flight() == 1);
}

TEST_CASE("a moved permit holds the slot, what it was moved from holds none") {
    Limit limit{cap()};
    Decision decision = admit_one(limit, 1, at(0s));

    std::optional<Permit> permit{std::move(decision.permit)};
    CHECK_FALSE(decision.permit.holds_slots());
    CHECK(limit.in_flight() == 1);

    permit.reset();
    CHECK(limit.in_flight() == 0);
}

TEST_CASE("assigning to a permit frees what it held") {
    Limit one{cap()};
    Limit other{cap()};
    Permit permit = std::move(admit_one(one, 1, at(0s)).permit);

    permit = std::move(admit_one(other, 1, at(0s)).permit);

    CHECK(one.in_flight() == 0);
    CHECK(other.in_flight() == 1);
}

TEST_CASE("a permit holds the slots of more caps than it has inline room for") {
    std::vector<std::unique_ptr<Limit>> caps;
    std::vector<Charge> charges;
    for (int i = 0; i < 5; ++i) {
        caps.push_back(std::make_unique<Limit>(cap()));
        charges.push_back({caps.back().get(), {}, 1});
    }
    {
        Permit permit = std::move(admit(charges, at(0s)).permit);
        const Permit moved = std::move(permit);
        CHECK(caps.back()->in_flight() == 1);
    }
    for (const auto& each : caps)
        CHECK(each->in_flight() == 0);
}

TEST_CASE("a request that a window refuses takes no slot of a cap") {
    Limit slots{cap()};
    Limit requests{window(1s)};
    REQUIRE(admit_one(requests, 1, at(0s)).allowed());

    const Decision refused = admit_all({{&slots, {}, 1}, {&requests, {}, 1}}, at(0s));

    CHECK_FALSE(refused.permit.holds_slots());
    CHECK(slots.in_flight() == 0);
}

TEST_CASE("a request that a cap refuses is not counted by a window") {
    Limit requests{window(1s)};
    Limit slots{cap()};
    const Decision held = admit_one(slots, 1, at(0s));

    REQUIRE_FALSE(admit_all({{&requests, {}, 9}, {&slots, {}, 1}}, at(0s)).allowed());

    CHECK(state(requests, at(0s)).used == 0);
}

TEST_CASE("before anything was released a cap estimates one second") {
    Limit limit{cap()};
    const Decision held = admit_one(limit, 1, at(0s));

    CHECK(admit_one(limit, 1, at(0s)).retry_after == 1s);
}

TEST_CASE("a cap's estimate is the mean hold time over the quota") {
    Limit limit{cap()};
    admit_one(limit, 4, at(0s)).permit.release(at(800ms));
    std::vector<Decision> held;
    for (int i = 0; i < 4; ++i)
        held.push_back(admit_one(limit, 4, at(1s)));

    CHECK(admit_one(limit, 4, at(1s)).retry_after == 200ms);
}

TEST_CASE("a cap's estimate moves by an eighth towards each hold time") {
    Limit limit{cap()};
    admit_one(limit, 1, at(0s)).permit.release(at(800ms));
    admit_one(limit, 1, at(1s)).permit.release(at(2600ms));
    const Decision held = admit_one(limit, 1, at(3s));

    CHECK(admit_one(limit, 1, at(3s)).retry_after == 900ms);
}

TEST_CASE("a cap's estimate is at least a millisecond") {
    Limit limit{cap()};
    admit_one(limit, 1, at(0s)).permit.release(at(0s));
    const Decision held = admit_one(limit, 1, at(0s));

    CHECK(admit_one(limit, 1, at(0s)).retry_after == 1ms);
}

TEST_CASE("a permit that is destroyed without release teaches nothing") {
    Limit limit{cap()};
    REQUIRE(admit_one(limit, 1, at(0s)).allowed());
    const Decision held = admit_one(limit, 1, at(9s));

    CHECK(admit_one(limit, 1, at(9s)).retry_after == 1s);
}

TEST_CASE("a cap that is lowered below what is in flight refuses until enough is freed") {
    Limit limit{cap()};
    std::vector<Decision> held;
    for (int i = 0; i < 3; ++i)
        held.push_back(admit_one(limit, 3, at(0s)));

    held.pop_back();
    held.pop_back();
    CHECK_FALSE(admit_one(limit, 1, at(0s)).allowed());
    held.pop_back();
    CHECK(admit_one(limit, 1, at(0s)).allowed());
}

TEST_CASE("each key of a cap has slots of its own") {
    Limit limit{keyed_cap(100)};
    const Decision one = admit_one(limit, 1, at(0s), key(1));

    const Decision two = admit_one(limit, 1, at(0s), key(2));
    CHECK(two.allowed());
    CHECK_FALSE(admit_one(limit, 1, at(0s), key(1)).allowed());
    CHECK(limit.in_flight() == 2);
    CHECK(state(limit, at(0s), key(1)).used == 1);
    CHECK(state(limit, at(0s), key(3)).used == 0);
}

TEST_CASE("a key of a cap lives as long as one of its slots is taken") {
    Limit limit{keyed_cap(1)};
    {
        const Decision one = admit_one(limit, 2, at(0s), key(1));
        CHECK(limit.live_keys(at(0s)) == 1);
        CHECK(admit_one(limit, 2, at(0s), key(2)).allowed());
        CHECK(limit.tally().overflowed() == 1);
    }
    CHECK(limit.live_keys(at(0s)) == 0);
    const Decision other = admit_one(limit, 2, at(0s), key(2));
    CHECK(other.allowed());
    CHECK(limit.live_keys(at(0s)) == 1);
}
