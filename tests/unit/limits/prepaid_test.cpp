#include "fixture.hpp"
#include "limits/prepaid.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>
#include <utility>

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

TEST_CASE("while a permit is claimed nobody else can claim it") {
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
