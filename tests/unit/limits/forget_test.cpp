// Limit::forget(): keys that begin anew.
#include "fixture.hpp"
#include "limits/counter/tally.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

LimitSpec spec_with(Algorithm algorithm, bool keyed, std::uint64_t max_keys = 100'000) {
    LimitSpec spec = keyed ? keyed_window(10s, max_keys) : window(10s);
    spec.identity.algorithm = algorithm;
    return spec;
}

// Fills the quota of 3.
void fill(Limit& limit, const Now& now, Hash128 of = {}) {
    for (int i = 0; i < 3; ++i)
        REQUIRE(admit_one(limit, 3, now, of).allowed());
    REQUIRE_FALSE(admit_one(limit, 3, now, of).allowed());
}

constexpr Algorithm forgetful[]{
    Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::token_bucket};

} // namespace

TEST_CASE("a key begins anew, and others go on") {
    for (const Algorithm algorithm : forgetful) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{spec_with(algorithm, true)};
        fill(limit, start, key(1));
        fill(limit, start, key(2));

        CHECK(limit.forget(key(1), at(1s)));

        CHECK(state(limit, at(1s), key(1), 3).used == 0);
        CHECK(limit.live_keys(at(1s)) == 1);
        fill(limit, at(1s), key(1));
        CHECK_FALSE(admit_one(limit, 3, at(1s), key(2)).allowed());
    }
}

TEST_CASE("without a key all begin anew, and the table has room for as many keys as before") {
    for (const Algorithm algorithm : forgetful) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{spec_with(algorithm, true, 20'000)};
        for (std::uint64_t i = 0; i < 20'000; ++i)
            REQUIRE(admit_one(limit, 3, start, key(i)).allowed());
        REQUIRE(admit_one(limit, 3, start, key(20'000)).allowed()); // in the sketch
        REQUIRE(limit.tally().overflowed() == 1);

        CHECK(limit.forget({}, at(1s)));

        CHECK(limit.live_keys(at(1s)) == 0);
        for (std::uint64_t i = 0; i < 20'000; ++i)
            REQUIRE(admit_one(limit, 3, at(1s), key(i)).allowed());
        CHECK(limit.tally().overflowed() == 1);
        CHECK(limit.live_keys(at(1s)) == 20'000);
    }
}

TEST_CASE("a limit without a key begins anew") {
    for (const Algorithm algorithm : forgetful) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{spec_with(algorithm, false)};
        fill(limit, start);

        CHECK(limit.forget({}, at(1s)));

        fill(limit, at(1s));
    }
}

TEST_CASE("what is forgotten is not saved") {
    Limit limit{spec_with(Algorithm::fixed_window, true, 100)};
    fill(limit, start, key(1));
    (void)limit.take_changed(0);

    CHECK(limit.forget(key(1), at(1s)));

    const std::uint64_t pages = limit.take_changed(0);
    CHECK(pages != 0);
    std::vector<SavedPage> saved;
    limit.save(0, pages, at(1s), saved);
    for (const SavedPage& page : saved)
        CHECK(page.bytes.empty());
}

TEST_CASE("a refund of a charge from before lowers the new count at most to nothing") {
    for (const Algorithm algorithm : forgetful)
        for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
            if (anchor == Anchor::clock && algorithm != Algorithm::fixed_window)
                continue;
            CAPTURE(static_cast<int>(algorithm));
            LimitSpec spec = spec_with(algorithm, true);
            spec.identity.anchor = anchor;
            Limit limit{spec};
            Charge charge{
                .limit = &limit, .key = key(1), .quota = 9, .cost = 3, .refundable = true};
            Decision before = admit({&charge, 1}, start);
            REQUIRE(before.allowed());
            CHECK(limit.forget(key(1), start));
            REQUIRE(admit_one(limit, 9, start, key(1)).allowed());

            before.permit.refund(0, start);

            const std::uint64_t used = state(limit, start, key(1), 9).used;
            CHECK(used <= 1);
            for (std::uint64_t i = used; i < 9; ++i)
                CHECK(admit_one(limit, 9, start, key(1)).allowed());
            CHECK_FALSE(admit_one(limit, 9, start, key(1)).allowed());
        }
}

TEST_CASE("a refund of a charge in a sketch that is gone is lost") {
    LimitSpec spec = spec_with(Algorithm::fixed_window, true, 1);
    Limit limit{spec};
    REQUIRE(admit_one(limit, 9, start, key(1)).allowed());
    Charge charge{.limit = &limit, .key = key(2), .quota = 9, .refundable = true};
    Decision in_sketch = admit({&charge, 1}, start);
    REQUIRE(limit.tally().overflowed() == 1);
    CHECK_FALSE(limit.forget(key(2), start)); // others may be counted there

    CHECK(limit.forget({}, start));
    in_sketch.permit.refund(0, start);

    CHECK(state(limit, start, key(2), 9).used == 0);
}

TEST_CASE("a refund of a charge in a former sketch lowers the count at most to nothing") {
    for (const Algorithm algorithm : {Algorithm::fixed_window, Algorithm::sliding_window})
        for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
            if (anchor == Anchor::clock && algorithm != Algorithm::fixed_window)
                continue;
            CAPTURE(static_cast<int>(algorithm));
            LimitSpec spec = spec_with(algorithm, true, 1);
            spec.identity.anchor = anchor;
            Limit limit{spec};
            REQUIRE(admit_one(limit, 9, start, key(1)).allowed()); // has the only cell
            const Charge charge{
                .limit = &limit, .key = key(2), .quota = 9, .cost = 3, .refundable = true};
            Decision before = admit({&charge, 1}, start);
            REQUIRE(before.allowed());
            CHECK(limit.forget({}, start));
            REQUIRE(admit_one(limit, 9, start, key(1)).allowed());
            REQUIRE(admit_one(limit, 9, start, key(2)).allowed()); // in another sketch
            REQUIRE(limit.tally().overflowed() == 2);

            before.permit.refund(0, start);

            const std::uint64_t used = state(limit, start, key(2), 9).used;
            CHECK(used <= 1);
            for (std::uint64_t i = used; i < 9; ++i)
                CHECK(admit_one(limit, 9, start, key(2)).allowed());
            CHECK_FALSE(admit_one(limit, 9, start, key(2)).allowed());
        }
}

TEST_CASE("a key with a cell is forgotten although the sketch counts keys that collide with it") {
    for (const Algorithm algorithm : forgetful) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{spec_with(algorithm, true, 1)};
        const Hash128 with_cell = key(1);
        Hash128 in_sketch = with_cell; // the same cells of the sketch
        ++in_sketch.high;
        fill(limit, start, with_cell);
        REQUIRE(admit_one(limit, 3, start, in_sketch).allowed());
        REQUIRE(limit.tally().overflowed() == 1);

        CHECK_FALSE(limit.forget(in_sketch, start));
        CHECK(limit.forget(with_cell, start));

        CHECK(limit.live_keys(start) == 0);
        CHECK(admit_one(limit, 3, start, with_cell).allowed());
        CHECK_FALSE(limit.forget(with_cell, start)); // in the sketch now
    }
}

TEST_CASE("the slots of a cap are not forgotten") {
    Limit limit{cap()};
    const Decision held = admit_one(limit, 1, start);
    REQUIRE(held.allowed());

    CHECK_FALSE(limit.forget({}, start));

    CHECK(limit.in_flight() == 1);
}
