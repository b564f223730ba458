// Keys that come while the table is full of others.
#include "limits/counter/sketch.hpp"
#include "limits/counter/tally.hpp"
#include "reference_model.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// A limit whose table key 0 has filled for an hour.
LimitSpec full(Algorithm algorithm, Duration per = 1h) {
    LimitSpec spec = algorithm == Algorithm::concurrency ? keyed_cap(1) : keyed_window(per, 1);
    spec.identity.algorithm = algorithm;
    return spec;
}

constexpr Algorithm windows[] = {
    Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::token_bucket};

} // namespace

TEST_CASE("a key that the table has no room for has its quota, and no more") {
    for (const Algorithm algorithm : windows) {
        Limit limit{full(algorithm)};
        REQUIRE(admit_one(limit, 3, at(0s), key(0)).allowed());

        for (int i = 0; i < 3; ++i)
            CHECK(admit_one(limit, 3, at(1min), key(1)).allowed());
        const Decision refused = admit_one(limit, 3, at(1min), key(1));

        CHECK(refused.refusal == Refusal::window);
        CHECK(state(limit, at(1min), key(1), 3).remaining == 0);
        CHECK(limit.tally().overflowed() == 3);
        CHECK_FALSE(admit_one(limit, 3, at(1min + refused.retry_after - 1ns), key(1)).allowed());
        CHECK(admit_one(limit, 3, at(1min + refused.retry_after), key(1)).allowed());
    }
}

TEST_CASE(
    "what a sketch counts of a window is over between once and one and a quarter its length") {
    for (const Algorithm algorithm : {Algorithm::fixed_window, Algorithm::sliding_window}) {
        for (int i = 0; i < 50; ++i) {
            Limit limit{full(algorithm)};
            const Duration begin = 71s * i;
            REQUIRE(admit_one(limit, 1, at(begin), key(0)).allowed());
            REQUIRE(admit_one(limit, 1, at(begin), key(1)).allowed());

            const Decision refused = admit_one(limit, 1, at(begin), key(1));

            CHECK(refused.retry_after >= 1h);
            CHECK(refused.retry_after <= 75min);
        }
    }
}

TEST_CASE("with a clock's window ends what the sketch counts of it") {
    LimitSpec spec = full(Algorithm::fixed_window, 1s);
    spec.identity.anchor = Anchor::clock;
    Limit limit{spec};
    REQUIRE(admit_one(limit, 1, at(0s), key(0)).allowed());
    REQUIRE(admit_one(limit, 1, at(900ms), key(1)).allowed());

    CHECK(admit_one(limit, 1, at(900ms), key(1)).retry_after == 100ms);
    REQUIRE(admit_one(limit, 1, at(1s), key(0)).allowed());
    CHECK(admit_one(limit, 1, at(1s), key(1)).allowed());
}

TEST_CASE("a key stays in the sketch while that counts anything of it, then it gets a counter") {
    Limit limit{full(Algorithm::fixed_window)};
    REQUIRE(admit_one(limit, 2, at(0s), key(0)).allowed());
    REQUIRE(admit_one(limit, 2, at(59min), key(1)).allowed());

    CHECK(admit_one(limit, 2, at(61min), key(1)).allowed()); // though there is room now
    CHECK(limit.live_keys(at(61min)) == 0);
    CHECK_FALSE(admit_one(limit, 2, at(62min), key(1)).allowed());
    CHECK(admit_one(limit, 2, at(4h), key(1)).allowed());
    CHECK(limit.live_keys(at(4h)) == 1);
}

TEST_CASE("slots of a cap are held and freed in the sketch as in the table") {
    Limit limit{full(Algorithm::concurrency)};
    Decision first = admit_one(limit, 2, at(0s), key(0));
    Decision one = admit_one(limit, 2, at(0s), key(1));
    Decision two = admit_one(limit, 2, at(0s), key(1));
    CHECK(admit_one(limit, 2, at(0s), key(1)).refusal == Refusal::cap);
    CHECK(limit.in_flight() == 3);

    first.permit.release(at(1s)); // there would be room in the table
    CHECK(admit_one(limit, 2, at(1s), key(1)).refusal == Refusal::cap);
    one.permit.release(at(1s));
    two.permit.release(at(1s));

    CHECK(limit.in_flight() == 0);
    const Decision again = admit_one(limit, 2, at(1s), key(1));
    CHECK(limit.live_keys(at(1s)) == 1);
}

TEST_CASE("what the sketch has counted is given back to it while it counts") {
    Limit limit{full(Algorithm::fixed_window)};
    const Charge charge{.limit = &limit, .key = key(1), .quota = 5, .cost = 4, .refundable = true};
    REQUIRE(admit_one(limit, 5, at(0s), key(0)).allowed());
    Decision early = admit_all({charge}, at(0s));
    CHECK_FALSE(admit_all({charge}, at(30min)).allowed());

    early.permit.settle(0, 1, at(30min));
    Decision late = admit_all({charge}, at(30min));
    CHECK(late.allowed());
    early.permit.refund(0, at(10h));
    late.permit.refund(0, at(10h));

    CHECK(state(limit, at(10h), key(1), 5).used == 0);
    CHECK(admit_all({charge}, at(10h)).allowed());
}

TEST_CASE("nothing is given back to a clock window's sketch that has begun anew") {
    LimitSpec spec = full(Algorithm::fixed_window, 1s);
    spec.identity.anchor = Anchor::clock;
    Limit limit{spec};
    const Charge charge{.limit = &limit, .key = key(1), .quota = 5, .cost = 4, .refundable = true};
    REQUIRE(admit_one(limit, 5, at(950ms), key(0)).allowed());
    Decision before = admit_all({charge}, at(950ms));
    REQUIRE(admit_one(limit, 5, at(1s), key(0)).allowed());
    REQUIRE(admit_all({charge}, at(1s)).allowed());

    before.permit.refund(0, at(1s));

    CHECK(state(limit, at(1s), key(1), 5).used == 4);
}

TEST_CASE("that a table is full is told once a minute") {
    Limit limit{full(Algorithm::fixed_window)};
    REQUIRE(admit_one(limit, 1, at(0s), key(0)).allowed());

    CHECK(admit_one(limit, 1, at(0s), key(1)).overflow_began == 1);
    CHECK(admit_one(limit, 1, at(59s), key(2)).overflow_began == 0);
    CHECK(admit_one(limit, 1, at(60s), key(3)).overflow_began == 1);
}

// Refunds are left out where they would let the twin's windows begin at another time.
TEST_CASE("however many keys come and go, none is admitted more than it is due") {
    for (const Algorithm algorithm : windows)
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            CAPTURE(static_cast<int>(algorithm));
            CAPTURE(seed);
            std::mt19937_64 random{seed};
            const auto below = [&](std::uint64_t bound) { return random() % bound; };
            LimitSpec spec = full(algorithm, 1s);
            spec.max_keys = 1 + below(10);
            Limit limit{spec};
            const std::uint64_t quota = 1 + below(5);
            model::LimitModel twin{spec}; // has room for any key
            std::vector<Permit> held;
            Now now = start;
            for (int step = 0; step < 3000; ++step) {
                now.steady += Duration{static_cast<std::int64_t>(below(2'000'000))};
                const std::uint64_t of = below(30);
                const model::Ask ask{.quota = quota, .cost = 1 + below(quota)};
                const Charge charge{
                    .limit = &limit,
                    .key = key(of),
                    .quota = quota,
                    .cost = ask.cost,
                    .refundable = true};
                Decision decision = admit({&charge, 1}, now);
                if (decision.allowed()) {
                    REQUIRE(twin.ask(of, ask, now).refusal == Refusal::none);
                    const auto id = static_cast<model::Id>(step);
                    twin.charge(of, ask, now, id);
                    held.push_back(std::move(decision.permit));
                    if (algorithm != Algorithm::fixed_window && below(4) == 0) {
                        held.back().refund(0, now);
                        twin.give_back(of, id, ask.cost, now);
                        held.pop_back();
                    }
                }
            }
            CHECK(limit.tally().overflowed() > 0);
        }
}

TEST_CASE("a sketch never says less of a key than was added for it") {
    SketchCells cells{16};
    std::map<std::uint64_t, std::uint64_t> exact;
    std::mt19937_64 random{1};
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t of = random() % 100;
        if (exact[of] > 0 && random() % 3 == 0) {
            cells.take_back(key(of), 1);
            --exact[of];
        } else {
            cells.add(key(of), 1 + of % 3);
            exact[of] += 1 + of % 3;
        }
        REQUIRE(cells.least(key(of)) >= exact[of]);
    }
    for (const auto& [of, count] : exact)
        CHECK(cells.least(key(of)) >= count);
}
