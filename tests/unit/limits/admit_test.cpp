#include "fixture.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

TEST_CASE("a window admits its quota and not one more") {
    Limit limit{window(1s)};

    for (int i = 0; i < 3; ++i)
        CHECK(admit_one(limit, 3, at(0s)).allowed());
    CHECK(admit_one(limit, 3, at(0s)).refusal == Refusal::window);
}

TEST_CASE("a refused client that sleeps for retry_after is admitted") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 1, at(0s)).allowed());

    const Decision refused = admit_one(limit, 1, at(300ms));

    CHECK(refused.retry_after == 700ms);
    CHECK(admit_one(limit, 1, at(300ms + refused.retry_after)).allowed());
}

TEST_CASE("a refused request charges no window") {
    Limit roomy{window(1s)};
    Limit tight{window(60s)};
    REQUIRE(admit_all({{&roomy, {}, 5}, {&tight, {}, 1}}, at(0s)).allowed());

    REQUIRE_FALSE(admit_all({{&roomy, {}, 5}, {&tight, {}, 1}}, at(100ms)).allowed());

    CHECK(state(roomy, at(100ms)).used == 1);
    CHECK(state(tight, at(100ms)).used == 1);
}

TEST_CASE("a refused request opens no window") {
    Limit first{window(1s)};
    Limit second{window(60s)};
    REQUIRE(admit_one(second, 1, at(0s)).allowed());

    REQUIRE_FALSE(admit_all({{&first, {}, 5}, {&second, {}, 1}}, at(0s)).allowed());

    CHECK(state(first, at(0s)).resets_in == 0s);
}

TEST_CASE("of several refusals the one to wait for longest is reported") {
    Limit shorter{window(1s)};
    Limit longer{window(60s)};
    Limit shortest{window(500ms)};
    REQUIRE(admit_all({{&shorter, {}, 1}, {&longer, {}, 1}, {&shortest, {}, 1}}, at(0s)).allowed());

    const Decision refused =
        admit_all({{&shorter, {}, 1}, {&longer, {}, 1}, {&shortest, {}, 1}}, at(100ms));

    CHECK(refused.refused_by == 1);
    CHECK(refused.refusing == 0b111);
    CHECK(refused.retry_after == 59'900ms);
}

TEST_CASE("a refusal is counted by the limit that is reported and by no other") {
    Limit shorter{window(1s)};
    Limit longer{window(60s)};
    REQUIRE(admit_all({{&shorter, {}, 1}, {&longer, {}, 1}}, at(0s)).allowed());

    REQUIRE_FALSE(admit_all({{&shorter, {}, 1}, {&longer, {}, 1}}, at(0s)).allowed());

    CHECK(shorter.refused() == 0);
    CHECK(longer.refused() == 1);
}

TEST_CASE("a quota that is lowered below what is used refuses and keeps the count") {
    Limit limit{window(1s)};
    for (int i = 0; i < 5; ++i)
        REQUIRE(admit_one(limit, 10, at(0s)).allowed());

    CHECK_FALSE(admit_one(limit, 3, at(0s)).allowed());
    CHECK(state(limit, at(0s)).used == 5);
}

TEST_CASE("a quota that is raised admits the difference") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 1, at(0s)).allowed());
    REQUIRE_FALSE(admit_one(limit, 1, at(0s)).allowed());

    CHECK(admit_one(limit, 2, at(0s)).allowed());
    CHECK_FALSE(admit_one(limit, 2, at(0s)).allowed());
}

TEST_CASE("a worker whose clock was read a little earlier counts in the window that is open") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 2, at(0s)).allowed());
    REQUIRE(admit_one(limit, 2, at(1s)).allowed());

    REQUIRE(admit_one(limit, 2, at(1s - 2ms)).allowed());

    CHECK(state(limit, at(1s)).used == 2);
}

TEST_CASE("no charge at all is admitted") {
    CHECK(admit({}, at(0s)).allowed());
}

TEST_CASE("as many charges as may be are charged together") {
    std::vector<std::unique_ptr<Limit>> limits;
    std::vector<Charge> charges;
    for (std::size_t i = 0; i < max_charges; ++i) {
        limits.push_back(std::make_unique<Limit>(window(1s)));
        charges.push_back({limits.back().get(), {}, 1});
    }

    CHECK(admit(charges, at(0s)).allowed());
    CHECK_FALSE(admit(charges, at(0s)).allowed());
}

TEST_CASE("the state of a window shows what is used and what remains of its time") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 5, at(0s)).allowed());

    const CounterState open = state(limit, at(400ms));
    CHECK(open.used == 1);
    CHECK(open.resets_in == 600ms);

    const CounterState over = state(limit, at(1s));
    CHECK(over.used == 0);
    CHECK(over.resets_in == 0s);
}

TEST_CASE("a preview answers as an admission would and changes nothing") {
    Limit window_limit{keyed_window(1s, 100)};
    Limit cap_limit{cap()};
    const std::array charges{Charge{&window_limit, key(1), 2}, Charge{&cap_limit, {}, 1}};
    std::array<ChargeState, 2> states;

    for (int i = 0; i < 3; ++i) {
        const Decision before = preview(charges, at(0s), states);
        CHECK(before.allowed());
        CHECK_FALSE(before.permit.holds_slots());
        CHECK(states[0].counter.remaining == 2);
        CHECK(states[1].counter.used == 0);
    }
    CHECK(window_limit.live_keys(at(0s)) == 0);

    const Decision held = admit(charges, at(0s));
    REQUIRE(held.allowed());
    const Decision after = preview(charges, at(100ms), states);
    CHECK(after.refusal == Refusal::cap);
    CHECK(after.refused_by == 1);
    CHECK(states[0].refusal == Refusal::none);
    CHECK(states[0].counter.used == 1);
    CHECK(states[0].counter.resets_in == 900ms);
    CHECK(states[1].refusal == Refusal::cap);
    CHECK(cap_limit.refused() == 0);
}
