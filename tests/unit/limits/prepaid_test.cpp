#include "fixture.hpp"
#include "limits/prepaid.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

SteadyTime in(Duration since_start) {
    return at(since_start).steady;
}

std::optional<Hash128>
issue(PrepaidPermits& prepaid, std::initializer_list<Charge> charges, Duration life = 10s) {
    return prepaid.issue({charges.begin(), charges.size()}, in(life), in(0s));
}

} // namespace

TEST_CASE("a permit pays for the counter that it was taken for, and for no other") {
    PrepaidPermits prepaid;
    Limit limit{keyed_window(10s, 100)};
    Limit other{keyed_window(10s, 100)};
    const auto id = issue(prepaid, {{&limit, key(1), 5}});
    REQUIRE(id);

    const PrepaidPermits::Claim claim = prepaid.claim(*id, in(1s));

    REQUIRE(claim);
    CHECK(claim.paid_of({&limit, key(1), 5}) == 1);
    CHECK(claim.paid_of({&limit, key(2), 5}) == 0);
    CHECK(claim.paid_of({&other, key(1), 5}) == 0);
}

TEST_CASE("a limit without a key does not ask for one") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const auto id = issue(prepaid, {{&limit, key(1), 5}});

    CHECK(prepaid.claim(id.value(), in(0s)).paid_of({&limit, key(2), 5}) == 1);
}

TEST_CASE("a permit pays what was taken, not more") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const auto id = issue(prepaid, {{.limit = &limit, .quota = 9, .cost = 3}});

    const PrepaidPermits::Claim claim = prepaid.claim(id.value(), in(0s));

    CHECK(claim.paid_of({.limit = &limit, .quota = 9, .cost = 2}) == 2);
    CHECK(claim.paid_of({.limit = &limit, .quota = 9, .cost = 3}) == 3);
    CHECK(claim.paid_of({.limit = &limit, .quota = 9, .cost = 7}) == 3);
}

TEST_CASE("caps are never paid for") {
    PrepaidPermits prepaid;
    Limit first{window(10s)};
    Limit slots{cap()};
    CHECK_FALSE(issue(prepaid, {{&slots, {}, 5}}));
    const auto id = issue(prepaid, {{&first, {}, 5}, {&slots, {}, 5}});

    const PrepaidPermits::Claim claim = prepaid.claim(id.value(), in(0s));

    CHECK(claim.paid_of({&first, {}, 5}) == 1);
    CHECK(claim.paid_of({&slots, {}, 5}) == 0);
}

TEST_CASE("while a permit is claimed it cannot be claimed again") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const Hash128 id = issue(prepaid, {{&limit, {}, 5}}).value();

    PrepaidPermits::Claim claim = prepaid.claim(id, in(0s));
    CHECK_FALSE(prepaid.claim(id, in(0s)));
    PrepaidPermits::Claim moved = std::move(claim);
    CHECK_FALSE(prepaid.claim(id, in(0s)));

    moved = {};
    CHECK(prepaid.claim(id, in(0s)));
}

TEST_CASE("a permit that was spent is gone, one that was not goes back") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const Hash128 id = issue(prepaid, {{&limit, {}, 5}}).value();
    for (int i = 0; i < 3; ++i)
        REQUIRE(prepaid.claim(id, in(0s)));

    CHECK(prepaid.claim(id, in(0s)).spend());

    CHECK_FALSE(prepaid.claim(id, in(0s)));
}

TEST_CASE("an admission that was given back gives the permit back, and it counts once") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const Hash128 id = issue(prepaid, {{&limit, {}, 5}}).value();
    {
        PrepaidPermits::Claim claim = prepaid.claim(id, in(0s));
        CHECK(claim.spend());
        claim.take_back();
        CHECK_FALSE(claim.spend());
        claim.take_back();
        claim.take_back();
    }

    CHECK(prepaid.claim(id, in(0s)));
}

TEST_CASE("a permit dies with its window, claimed or not") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const Hash128 id = issue(prepaid, {{&limit, {}, 5}}).value();
    CHECK(prepaid.claim(id, in(9'999ms)));

    CHECK_FALSE(prepaid.claim(id, in(10s)));
    CHECK_FALSE(prepaid.issue(std::initializer_list<Charge>{{&limit, {}, 5}}, in(1s), in(1s)));
}

TEST_CASE("ids do not repeat and are not those of another process") {
    PrepaidPermits here;
    PrepaidPermits there;
    Limit limit{window(10s)};
    std::set<Hash128> ids;
    for (int i = 0; i < 1'000; ++i) {
        ids.insert(issue(here, {{&limit, {}, 5}}).value());
        ids.insert(issue(there, {{&limit, {}, 5}}).value());
    }

    CHECK(ids.size() == 2'000);
    CHECK_FALSE(here.claim(issue(there, {{&limit, {}, 5}}).value(), in(0s)));
}

TEST_CASE("only so many permits are out, and those that expired make room") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const Hash128 first = issue(prepaid, {{&limit, {}, 5}}, 1h).value();
    PrepaidPermits::Claim claim = prepaid.claim(first, in(0s));
    for (std::size_t i = 1; i < PrepaidPermits::most; ++i)
        REQUIRE(issue(prepaid, {{&limit, {}, 5}}));
    const std::initializer_list<Charge> charges{{&limit, {}, 5}};

    CHECK_FALSE(prepaid.issue(charges, in(20s), in(1s)));
    claim.spend();
    CHECK(prepaid.issue(charges, in(20s), in(1s)));
    CHECK_FALSE(prepaid.issue(charges, in(20s), in(1s)));

    std::size_t more = 0;
    while (more <= PrepaidPermits::most && prepaid.issue(charges, in(30s), in(10s)))
        ++more;
    CHECK(more == PrepaidPermits::most - 1); // the one of above lives until 20 s
}

TEST_CASE("a look tells what the permit would pay, and leaves it to be claimed") {
    PrepaidPermits prepaid;
    Limit limit{keyed_window(10s, 100)};
    const Charge paid{.limit = &limit, .key = key(1), .quota = 9, .cost = 3};
    const Hash128 id = issue(prepaid, {paid}).value();
    for (int i = 0; i < 3; ++i) {
        PrepaidPermits::Claim seen = prepaid.look(id, in(1s));
        REQUIRE(seen);
        CHECK(seen.paid_of(paid) == 3);
        CHECK(seen.paid_of({&limit, key(2), 9}) == 0);
        CHECK_FALSE(seen.expired(in(9s)));
        CHECK(seen.expired(in(10s)));
        CHECK_FALSE(seen.spend());
        seen.take_back();
        CHECK_FALSE(seen.spend());
        const PrepaidPermits::Claim moved = std::move(seen);
        CHECK(moved.paid_of(paid) == 3);
    }

    PrepaidPermits::Claim claim = prepaid.claim(id, in(1s));
    REQUIRE(claim);
    CHECK_FALSE(prepaid.look(id, in(1s))); // it is claimed
    claim = {};
    CHECK(prepaid.look(id, in(1s)));
    CHECK(prepaid.claim(id, in(1s)).spend()); // the first time
    CHECK_FALSE(prepaid.look(id, in(1s)));
}

TEST_CASE("a look at a permit that has expired or was never issued finds none") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    const Hash128 id = issue(prepaid, {{&limit, {}, 5}}).value();

    CHECK(prepaid.look(id, in(10s - 1ns)));
    CHECK_FALSE(prepaid.look(id, in(10s)));
    CHECK_FALSE(prepaid.look(key(17), in(0s)));
}

TEST_CASE("looks make room for no permit and take none") {
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    std::vector<PrepaidPermits::Claim> seen;
    for (std::size_t i = 0; i < PrepaidPermits::most; ++i) {
        seen.push_back(prepaid.look(issue(prepaid, {{&limit, {}, 5}}).value(), in(0s)));
        seen.back().spend();
    }
    CHECK_FALSE(issue(prepaid, {{&limit, {}, 5}}));

    seen.clear();

    CHECK_FALSE(issue(prepaid, {{&limit, {}, 5}}));
}

TEST_CASE("a look tells what claim() then does, and changes nothing, in any history") {
    std::mt19937_64 random{1};
    PrepaidPermits prepaid;
    std::deque<Limit> limits;
    for (int i = 0; i < 3; ++i)
        limits.emplace_back(keyed_window(10s, 100));
    std::vector<Hash128> ids{key(1)};
    std::vector<PrepaidPermits::Claim> claims;
    Duration now{};
    const auto one_of = [&](auto& some) -> auto& {
        return some[random() % some.size()];
    };
    const auto charge = [&] {
        return Charge{
            .limit = &one_of(limits),
            .key = key(random() % 2),
            .quota = 9,
            .cost = 1 + random() % 5};
    };
    int found = 0;
    for (int step = 0; step < 20'000; ++step) {
        now += Duration{static_cast<std::int64_t>(random() % 100'000'000)};
        const std::array charges{charge(), charge()};
        if (random() % 3 == 0)
            ids.push_back(
                prepaid.issue(charges, in(now + 1s * (1 + random() % 9)), in(now)).value());
        if (random() % 4 == 0 && !claims.empty())
            claims.erase(claims.begin() + static_cast<std::ptrdiff_t>(random() % claims.size()));
        const Hash128 id = random() % 2 == 0 ? ids.back() : one_of(ids);
        PrepaidPermits::Claim seen = prepaid.look(id, in(now));
        if (seen && random() % 2 == 0)
            REQUIRE_FALSE(seen.spend());
        std::optional<PrepaidPermits::Claim> dropped = prepaid.look(id, in(now));
        dropped.reset();

        PrepaidPermits::Claim claim = prepaid.claim(id, in(now));

        REQUIRE(static_cast<bool>(seen) == static_cast<bool>(claim));
        for (const Charge& each : {charges[0], charges[1], charge()})
            REQUIRE(seen.paid_of(each) == claim.paid_of(each));
        REQUIRE(seen.expired(in(now + 5s)) == claim.expired(in(now + 5s)));
        if (claim && ++found && random() % 3 == 0)
            claim.spend();
        if (claim && random() % 2 == 0)
            claims.push_back(std::move(claim));
    }
    CHECK(found > 1'000);
}

TEST_CASE("of threads that claim one permit one gets it") {
    constexpr int rounds = 20'000;
    PrepaidPermits prepaid;
    Limit limit{window(10s)};
    std::vector<Hash128> ids;
    for (int i = 0; i < rounds; ++i)
        ids.push_back(issue(prepaid, {{&limit, {}, 5}}).value());
    std::atomic<int> spent{0};
    std::atomic<int> ready{0};
    const auto claim_all = [&](bool forward) {
        ready.fetch_add(1);
        while (ready.load() < 2)
            std::this_thread::yield();
        for (int i = 0; i < rounds; ++i) {
            PrepaidPermits::Claim claim =
                prepaid.claim(ids[static_cast<std::size_t>(forward ? i : rounds - 1 - i)], in(0s));
            if (claim && i % 3 != 0 && claim.spend()) // a third goes back
                spent.fetch_add(1);
        }
    };

    std::thread one{claim_all, true};
    std::thread two{claim_all, true};
    one.join();
    two.join();

    int left = 0;
    for (const Hash128& id : ids)
        left += prepaid.claim(id, in(0s)) ? 1 : 0;
    CHECK(spent + left == rounds);
    CHECK(spent <= rounds - rounds / 3);
}
