#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

Charge costing(Limit& limit, std::uint64_t quota, std::uint64_t cost) {
    return {.limit = &limit, .quota = quota, .cost = cost};
}

} // namespace

TEST_CASE("a request counts what it costs") {
    Limit limit{window(1s)};
    REQUIRE(admit_all({costing(limit, 10, 7)}, at(0s)).allowed());

    const Decision refused = admit_all({costing(limit, 10, 4)}, at(300ms));
    CHECK(refused.refusal == Refusal::window);
    CHECK(refused.retry_after == 700ms);
    CHECK(admit_all({costing(limit, 10, 3)}, at(300ms)).allowed());
}

TEST_CASE("a request that costs more than there ever is is told so, not when to come back") {
    Limit limit{window(1s)};
    Limit slots{cap()};

    const Decision refused = admit_all({costing(limit, 10, 11), costing(slots, 3, 3)}, at(0s));
    CHECK(refused.refusal == Refusal::cost);
    CHECK(refused.retry_after == Duration::max());
    CHECK(admit_all({costing(limit, 10, 10), costing(slots, 3, 4)}, at(0s)).refused_by == 1);
    CHECK(admit_all({costing(limit, 10, 10), costing(slots, 3, 3)}, at(0s)).allowed());
}

TEST_CASE("a request that costs several slots of a cap holds and frees as many") {
    Limit limit{cap()};
    Decision first = admit_all({costing(limit, 5, 3)}, at(0s));
    CHECK_FALSE(admit_all({costing(limit, 5, 3)}, at(0s)).allowed());
    CHECK(limit.in_flight() == 3);

    first.permit.release(at(1s));

    CHECK(limit.in_flight() == 0);
    CHECK(admit_all({costing(limit, 5, 5)}, at(1s)).allowed());
}

TEST_CASE("what a request turns out not to cost goes back to the window that is still open") {
    Limit limit{window(1s)};
    Charge charge = costing(limit, 10, 8);
    charge.refundable = true;
    Decision decision = admit_all({charge}, at(0s));

    decision.permit.settle(0, 3, at(500ms));
    CHECK(state(limit, at(500ms)).used == 3);
    decision.permit.settle(0, 9, at(500ms)); // never more than was charged
    CHECK(state(limit, at(500ms)).used == 3);
    decision.permit.refund(0, at(500ms));
    decision.permit.refund(0, at(500ms));
    CHECK(state(limit, at(500ms)).used == 0);
}

TEST_CASE("nothing is given back to a window that followed") {
    for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
        for (const bool keyed : {false, true}) {
            Limit limit{keyed ? keyed_window(1s, 100, anchor) : window(1s, anchor)};
            const Charge charge{
                .limit = &limit, .key = key(1), .quota = 10, .cost = 8, .refundable = true};
            Decision decision = admit_all({charge}, at(0s));
            REQUIRE(admit_all({charge}, at(1s)).allowed());

            decision.permit.refund(0, at(1s));

            CHECK(state(limit, at(1s), key(1)).used == 8);
        }
    }
}

TEST_CASE("a refund whose key has left the table changes nothing") {
    Limit limit{keyed_window(1s, 1)};
    const Charge charge{.limit = &limit, .key = key(1), .quota = 2, .refundable = true};
    Decision decision = admit_all({charge}, at(0s));
    REQUIRE(admit_one(limit, 1, at(1s), key(2)).allowed());

    decision.permit.refund(0, at(1s));

    CHECK(state(limit, at(1s), key(2)).used == 1);
}

TEST_CASE("a charge is given back after the slots of caps were freed, and slots after it") {
    Limit requests{window(1s)};
    Limit slots{cap()};
    const Charge charges[] = {
        {.limit = &requests, .quota = 5, .refundable = true}, {.limit = &slots, .quota = 5}};
    for (const bool slots_first : {false, true}) {
        Decision decision = admit(charges, at(0s));
        if (slots_first)
            decision.permit.release(at(0s));
        decision.permit.refund(0, at(0s));
        decision.permit.refund(1, at(0s)); // a cap's slot is not settled but freed
        CHECK(slots.in_flight() == (slots_first ? 0 : 1));
        decision.permit.release(at(0s));
        CHECK(requests.state_of({.quota = 5}, at(0s)).used == 0);
        CHECK(slots.in_flight() == 0);
    }
}

TEST_CASE("a paced window admits each request at its share of the window, and not before") {
    Limit limit{window(1s)};
    const Charge paced{.limit = &limit, .quota = 3, .pace = true};
    REQUIRE(admit_all({paced}, at(0s)).allowed());

    const Decision early = admit_all({paced}, at(100ms));
    CHECK(early.refusal == Refusal::pace);
    CHECK(early.retry_after == 233'333'334ns);
    CHECK_FALSE(admit_all({paced}, at(333'333'333ns)).allowed());
    CHECK(admit_all({paced}, at(333'333'334ns)).allowed());
    CHECK(admit_all({paced}, at(900ms)).allowed()); // late, and the next is not later for it
    CHECK(admit_all({paced}, at(950ms)).refusal == Refusal::window);
    CHECK(admit_all({paced}, at(1s)).allowed());
}

TEST_CASE("a paced request makes the requests behind it wait for what it costs") {
    Limit limit{window(1s)};
    Charge paced{.limit = &limit, .quota = 10, .cost = 4, .pace = true};
    REQUIRE(admit_all({paced}, at(0s)).allowed());

    CHECK(admit_all({paced}, at(0s)).retry_after == 400ms);
}

TEST_CASE("what has left a sliding window is not taken off its neighbour") {
    LimitSpec spec = window(1s);
    spec.identity.algorithm = Algorithm::sliding_window;
    Limit limit{spec};
    const auto ask = [&](const Now& now) {
        const Charge charge{.limit = &limit, .quota = 2, .refundable = true};
        return admit({&charge, 1}, now);
    };
    Decision first = ask(at(0s));
    const Decision second = ask(at(1ms));

    first.permit.refund(0, at(1s));

    CHECK(state(limit, at(1s)).used == 1);
}
