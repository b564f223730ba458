// Token buckets whose numbers change, and what is given back to many of them.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

LimitSpec bucket(Duration per, bool keyed = false) {
    LimitSpec spec = keyed ? keyed_window(per, 4096) : window(per);
    spec.identity.algorithm = Algorithm::token_bucket;
    return spec;
}

// How many are admitted at once.
std::uint64_t take_all(Limit& limit, const Now& now, std::uint64_t quota, std::uint64_t burst = 0) {
    std::uint64_t taken = 0;
    const Charge charge{.limit = &limit, .quota = quota, .burst = burst};
    while (admit({&charge, 1}, now).allowed())
        ++taken;
    return taken;
}

Duration wait_for_one(Limit& limit, const Now& now, std::uint64_t quota, std::uint64_t burst = 0) {
    const Charge charge{.limit = &limit, .quota = quota, .burst = burst};
    const Decision decision = admit({&charge, 1}, now);
    return decision.allowed() ? Duration{} : decision.retry_after;
}

} // namespace

TEST_CASE("a bucket's number that is raised is there for the next request, less what was used") {
    Limit limit{bucket(60s)};
    REQUIRE(take_all(limit, at(0s), 10) == 10);

    CHECK(take_all(limit, at(0s), 30) == 20);
    CHECK(wait_for_one(limit, at(0s), 30) == 2s);
    CHECK(take_all(limit, at(60s), 30) == 30);
}

TEST_CASE("a bucket's number that is lowered takes off what was used") {
    Limit limit{bucket(60s)};
    REQUIRE(admit_all({{.limit = &limit, .quota = 10, .cost = 4}}, at(0s)).allowed());

    CHECK(limit.state_of({.quota = 5}, at(0s)).remaining == 1);
    CHECK(take_all(limit, at(0s), 5) == 1);
    CHECK(wait_for_one(limit, at(0s), 5) == 12s);
}

TEST_CASE("where more was used of a bucket than there is now, it is over when it would have been") {
    Limit limit{bucket(60s)};
    REQUIRE(take_all(limit, at(0s), 600) == 600);

    const Duration wait = wait_for_one(limit, at(0s), 6);
    CHECK(wait == 59500ms); // as much is owed as of an empty bucket of six, less one
    CHECK(wait_for_one(limit, at(wait - 1ns), 6) == 1ns);
    CHECK(wait_for_one(limit, at(wait), 6) == Duration{});
    CHECK(wait_for_one(limit, at(wait), 6) == 10s);
}

TEST_CASE("a bucket of one is paid off by the higher number as soon as that is seen") {
    Limit limit{bucket(24h)};
    REQUIRE(take_all(limit, at(0s), 1) == 1);

    CHECK(wait_for_one(limit, at(1h), 86400, 1) == 958'333'334ns);
    CHECK(wait_for_one(limit, at(1h + 1s), 86400, 1) == Duration{});
}

TEST_CASE("two numbers in turns, as in a reload, admit no more than the larger") {
    for (const std::uint64_t other : {3, 7, 100, 700'000, 1'000'000}) {
        CAPTURE(other);
        Limit limit{bucket(3600s)};
        std::uint64_t taken = 0;
        for (int round = 0; round < 300; ++round)
            for (const std::uint64_t quota : {std::uint64_t{10}, other})
                taken += admit_one(limit, quota, at(0s)).allowed() ? 1 : 0;
        CHECK(taken == std::min<std::uint64_t>(std::max<std::uint64_t>(10, other), 305));
    }
}

TEST_CASE("of a charge from before the number was raised no more is given back than is owed") {
    Limit limit{bucket(60s)};
    const Charge before{.limit = &limit, .quota = 10, .cost = 10, .refundable = true};
    Decision first = admit({&before, 1}, at(0s));
    const Charge after{.limit = &limit, .quota = 60, .cost = 50, .refundable = true};
    REQUIRE(admit({&after, 1}, at(0s)).allowed());

    // Ten seconds have paid for the first ten, by the number of now.
    first.permit.refund(0, at(10s));

    CHECK(limit.state_of({.quota = 60}, at(10s)).used == 50);
}

TEST_CASE("where a number changes, a request under way may get less back, never more") {
    for (const std::uint64_t quota : {5, 10, 40}) {
        Limit limit{bucket(60s)};
        const Charge charge{.limit = &limit, .quota = 10, .cost = 4, .refundable = true};
        Decision decision = admit({&charge, 1}, at(0s));
        REQUIRE(wait_for_one(limit, at(0s), quota) == Duration{});

        decision.permit.refund(0, at(0s));

        const std::uint64_t used = limit.state_of({.quota = quota}, at(0s)).used;
        CHECK(used >= 1);
        CHECK(used <= (quota == 10 ? 1 : 5));
    }
}

TEST_CASE("a failing upstream: what is given back to many keys at once is given back to each") {
    Limit limit{bucket(60s, true)};
    constexpr std::uint64_t keys = 900;
    std::vector<Decision> failed;
    for (std::uint64_t of = 0; of < keys; ++of) {
        const Charge charge{.limit = &limit, .key = key(of), .quota = 1, .refundable = true};
        failed.push_back(admit({&charge, 1}, at(0s)));
    }

    for (Decision& each : failed)
        each.permit.refund(0, at(1ms));

    std::uint64_t admitted = 0;
    for (std::uint64_t of = 0; of < keys; ++of)
        admitted += admit_one(limit, 1, at(1ms), key(of)).allowed() ? 1 : 0;
    CHECK(admitted == keys);
}

TEST_CASE("charges at once are given back in whatever order the first and the last of them end") {
    Limit limit{bucket(60s)};
    const Charge charge{.limit = &limit, .quota = 2, .refundable = true};
    for (const std::size_t first : {0U, 1U}) {
        Decision decisions[] = {admit({&charge, 1}, at(0s)), admit({&charge, 1}, at(0s))};
        REQUIRE(decisions[1].allowed());

        decisions[first].permit.refund(0, at(0s));
        decisions[1 - first].permit.refund(0, at(0s));

        CHECK(limit.state_of(charge, at(0s)).used == 0);
    }
}

TEST_CASE("a part that was given back is not given back once more where others came after it") {
    Limit limit{bucket(60s)};
    const Charge two{.limit = &limit, .quota = 4, .cost = 2, .refundable = true};
    Decision first = admit({&two, 1}, at(0s));
    first.permit.settle(0, 1, at(0s));
    REQUIRE(admit_one(limit, 4, at(0s)).allowed());

    // In 15 s one token came back, and paid for what was left of the first.
    first.permit.refund(0, at(15s));

    CHECK(limit.state_of(two, at(15s)).used == 1);
}

TEST_CASE("what was given back is known of no more keys than the limit may have") {
    LimitSpec spec = bucket(60s, true);
    spec.max_keys = 16;
    Limit limit{spec};
    constexpr std::uint64_t keys = 1000;
    std::uint64_t given_back = 0;
    SUBCASE("one request of each at a time is always given back") {
        for (std::uint64_t of = 0; of < keys; ++of) {
            const Charge charge{.limit = &limit, .key = key(of), .quota = 1, .refundable = true};
            Decision decision = admit({&charge, 1}, at(0s));
            REQUIRE(decision.allowed());
            decision.permit.refund(0, at(0s));
            given_back += limit.state_of(charge, at(0s)).used == 0 ? 1 : 0;
        }
        CHECK(given_back == keys);
    }
    SUBCASE("of several at a time, where it can be known") {
        for (std::uint64_t of = 0; of < keys; ++of) {
            const Charge charge{.limit = &limit, .key = key(of), .quota = 2, .refundable = true};
            Decision first = admit({&charge, 1}, at(0s));
            Decision last = admit({&charge, 1}, at(0s));
            first.permit.refund(0, at(0s));
            last.permit.refund(0, at(0s));
            given_back += first.allowed() && limit.state_of(charge, at(0s)).used == 0 ? 1 : 0;
        }
        CHECK(given_back > 4);
        CHECK(given_back <= 16);
    }
}

TEST_CASE("what is given back to keys over and over leaves nothing behind, and none too much") {
    Limit limit{bucket(1s, true)};
    for (int round = 0; round < 200; ++round) {
        const Now now = at(round * 1s);
        for (std::uint64_t of = 0; of < 40; ++of) {
            const Hash128 whose = key(static_cast<std::uint64_t>(round) * 20 + of);
            const Charge charge{.limit = &limit, .key = whose, .quota = 2, .refundable = true};
            Decision first = admit({&charge, 1}, now);
            REQUIRE(first.allowed());
            REQUIRE(admit({&charge, 1}, now).allowed());
            REQUIRE_FALSE(admit({&charge, 1}, now).allowed());
            first.permit.refund(0, now);
            first.permit.refund(0, now);
            REQUIRE(admit({&charge, 1}, now).allowed());
            REQUIRE_FALSE(admit({&charge, 1}, now).allowed());
        }
    }
}
