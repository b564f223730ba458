#include "fixture.hpp"
#include "limits/fairness/fair_shares.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// A limit, and takes from it that name an owner, asked for as the gateway does.
struct Sharing {
    explicit Sharing(std::uint64_t of, Duration per = 1s, Anchor anchor = Anchor::first_request)
        : quota{of}, length{per}, limit{window(per, anchor)} {}

    // When an owner that has just been refused is told to come back.
    Duration told(std::uint64_t owner, const Now& now, std::uint64_t cost = 1) {
        const Charge charge{.limit = &limit, .quota = quota, .cost = cost};
        const SteadyTime opens = shares.opens_at(
            {limit.ordinal(), {}}, key(owner), cost, quota, limit.state_of(charge, now).remaining,
            {limit.window_end(charge, now), length}, now.steady);
        return opens - now.steady;
    }
    bool take(std::uint64_t owner, const Now& now, std::uint64_t cost = 1) {
        Charge charge{.limit = &limit, .quota = quota, .cost = cost};
        const SteadyTime end = limit.window_end(charge, now);
        const FairShares::Counter counter{limit.ordinal(), {}};
        charge.reserved_for_others = kept =
            shares.ask(counter, key(owner), cost, quota, {end, length}, now.steady);
        CHECK(kept <= quota);
        if (!admit({&charge, 1}, now).allowed())
            return false;
        shares.granted(counter, key(owner), cost, end);
        got[owner] += cost;
        windows[end.time_since_epoch()] += cost;
        CHECK(windows[end.time_since_epoch()] <= quota);
        return true;
    }
    // What is kept from this owner now; it asks for it.
    std::uint64_t kept_from(std::uint64_t owner, const Now& now) {
        const Charge charge{.limit = &limit, .quota = quota};
        return shares.ask(
            {limit.ordinal(), {}}, key(owner), 1, quota, {limit.window_end(charge, now), length},
            now.steady);
    }

    std::uint64_t quota;
    Duration length;
    Limit limit;
    FairShares shares;
    std::uint64_t kept = 0;
    std::map<std::uint64_t, std::uint64_t> got;
    std::map<Duration, std::uint64_t> windows; // by their ends
};

// An owner that asks every so often, from its first instant on.
struct Asker {
    std::uint64_t owner;
    Duration every;
    Duration from{};
    Duration until = Duration::max();
    std::uint64_t cost = 1;
};

void play(Sharing& sharing, const std::vector<Asker>& askers, Duration length) {
    for (Duration t{}; t < length; t += 100us)
        for (const Asker& each : askers)
            if (t >= each.from && t < each.until && (t - each.from) % each.every == Duration{})
                sharing.take(each.owner, at(t), each.cost);
}

} // namespace

TEST_CASE(
    "an owner that asks without pause leaves the others their share, and the total is exact") {
    Sharing sharing{20};
    std::vector<Asker> askers{{0, 100us}};
    SUBCASE("they begin together") {
        for (std::uint64_t i = 1; i <= 3; ++i)
            askers.push_back({i, 100ms, Duration{i * 13'000'000}});
    }
    SUBCASE("they come first") {
        for (std::uint64_t i = 1; i <= 3; ++i)
            askers.insert(askers.begin(), {i, 100ms});
    }
    SUBCASE("they come late in each window") {
        for (std::uint64_t i = 1; i <= 3; ++i)
            askers.push_back({i, 100ms, Duration{i * 100'000 + 99'500'000}});
    }

    play(sharing, askers, 6s);

    for (std::uint64_t i = 1; i <= 3; ++i)
        CHECK(sharing.got[i] >= 24);
    REQUIRE(sharing.windows.size() >= 6);
    for (const auto& [end, count] : sharing.windows)
        if (end < at(6s).steady.time_since_epoch())
            CHECK(count == 20);
}

TEST_CASE("the shares hold with windows of the wall clock") {
    Sharing sharing{20, 1s, Anchor::clock};
    std::vector<Asker> askers{{0, 100us}};
    for (std::uint64_t i = 1; i <= 3; ++i)
        askers.push_back({i, 100ms, Duration{i * 13'000'000}});

    play(sharing, askers, 6s);

    for (std::uint64_t i = 1; i <= 3; ++i)
        CHECK(sharing.got[i] >= 24);
    CHECK(sharing.got[0] + sharing.got[1] + sharing.got[2] + sharing.got[3] == 120);
}

TEST_CASE("one owner alone gets everything at once") {
    Sharing sharing{20};
    for (Duration t{}; t < 5s; t += 1s)
        for (int i = 0; i < 20; ++i) {
            CHECK(sharing.take(7, at(t)));
            CHECK(sharing.kept == 0);
        }
    CHECK_FALSE(sharing.take(7, at(4s)));
}

TEST_CASE("an owner that needs less than an equal share gets that, and the others share the rest") {
    Sharing sharing{30};
    // 2 a second, and two that ask for far more: 2 + 14 + 14, once they know of each other.
    play(sharing, {{0, 1ms}, {1, 1ms}, {2, 500ms, 40ms}}, 5s);

    CHECK(sharing.got[2] == 4 * 2);
    CHECK(sharing.got[1] >= 4 * 14);
    CHECK(sharing.got[0] + sharing.got[1] + sharing.got[2] == 150);
}

TEST_CASE("owners that are more than the quota take turns") {
    Sharing sharing{2};
    std::vector<Asker> askers{{0, 100us}};
    for (std::uint64_t i = 1; i < 8; ++i)
        askers.push_back({i, 50ms, Duration{i * 1'300'000}});

    play(sharing, askers, 40s);

    for (std::uint64_t i = 0; i < 8; ++i) {
        CAPTURE(i);
        CHECK(sharing.got[i] >= 8); // 10 would be equal
        CHECK(sharing.got[i] <= 13);
    }
}

TEST_CASE("what does not divide evenly goes round") {
    Sharing sharing{7};
    play(sharing, {{0, 1ms}, {1, 1ms}, {2, 1ms}}, 30s);

    for (std::uint64_t i = 0; i < 3; ++i)
        CHECK(sharing.got[i] >= 65); // of 210
}

TEST_CASE("a unit that does not divide is kept for one owner only, even when demands change") {
    Sharing sharing{7};
    for (const auto& [owner, demand] : {std::pair{0, 7}, {1, 3}, {2, 3}})
        for (int i = 0; i < demand; ++i)
            sharing.kept_from(static_cast<std::uint64_t>(owner), at(0s));
    for (int i = 0; i < 3; ++i)
        REQUIRE(sharing.take(1, at(1s)));

    for (int i = 0; i < 4; ++i)
        CHECK(sharing.kept_from(2, at(1s)) == 2);
    CHECK(sharing.kept_from(0, at(1s)) == 2);
}

TEST_CASE("an owner that vanishes is waited for less and less, and for one window only") {
    Sharing sharing{20};
    play(sharing, {{0, 1ms}, {1, 100ms}}, 3s); // the third window ends at 3 s

    const Now begin = at(3s);
    std::uint64_t former = sharing.kept_from(0, begin);
    CHECK(former == 10);
    for (Duration t{}; t < 1s; t += 10ms) {
        const std::uint64_t kept = sharing.kept_from(0, at(3s + t));
        CHECK(kept <= former);
        CHECK(kept <= static_cast<std::uint64_t>((1s - t + 99ms) / 100ms));
        former = kept;
    }
    CHECK(former == 0);
    CHECK(sharing.kept_from(0, at(4s)) == 0);
    CHECK(sharing.kept_from(0, at(4500ms)) == 0);
}

TEST_CASE(
    "a refused owner that comes back alone when told is admitted, and no sooner than needed") {
    Sharing sharing{1};
    REQUIRE(sharing.take(0, at(0s)));
    REQUIRE_FALSE(sharing.take(1, at(100ms)));
    CHECK(sharing.told(1, at(100ms)) == 900ms); // it has gone without for longer
    REQUIRE_FALSE(sharing.take(0, at(200ms)));
    const Duration wait = sharing.told(0, at(200ms)); // the next window is the other's
    CHECK(wait == 800ms + 968'750us);

    CHECK(sharing.take(0, at(200ms + wait)));
}

TEST_CASE("a refused owner that comes back alone when told is admitted, in any history") {
    int told = 0;
    for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        const auto up_to = [&random](std::uint64_t most) { return random() % most + 1; };
        Sharing sharing{up_to(9), 1s, random() % 2 == 0 ? Anchor::clock : Anchor::first_request};
        const std::uint64_t owners = up_to(6);
        for (Duration t{};; t += std::chrono::microseconds{up_to(400'000)}) {
            const std::uint64_t owner = up_to(owners);
            const std::uint64_t cost = random() % 4 == 0 ? up_to(sharing.quota) : 1;
            if (sharing.take(owner, at(t), cost) || random() % 20 != 0)
                continue;
            const Duration wait = sharing.told(owner, at(t), cost);
            CHECK(wait > Duration{});
            CHECK(wait <= 2s);
            CHECK(sharing.take(owner, at(t + wait), cost));
            ++told;
            break;
        }
    }
    CHECK(told == 2000);
}

TEST_CASE("nothing of a window is lost to owners that vanish") {
    Sharing sharing{20};
    play(sharing, {{0, 1ms}, {1, 100ms, {}, 3s}, {2, 100ms, {}, 3s}}, 6s);

    std::uint64_t all = 0;
    for (const auto& [end, count] : sharing.windows)
        all += count;
    CHECK(all >= 119); // the fourth window opens when something is released
    CHECK(sharing.got[0] >= 20 + 6 + 6 + 20 + 20);
}

TEST_CASE("owners that asked for nothing during a window have nothing kept for them") {
    Sharing sharing{20};
    play(sharing, {{0, 1ms}, {1, 100ms}}, 3s);

    CHECK(sharing.kept_from(0, at(5500ms)) == 0);
}

TEST_CASE("asks that are never granted do not keep the owners of long ago") {
    Sharing sharing{20};
    for (Duration t{}; t < 3s; t += 100ms) {
        sharing.kept_from(0, at(t));
        if (t < 1s)
            sharing.kept_from(1, at(t));
    }

    CHECK(sharing.kept_from(0, at(3s)) == 0);
}

TEST_CASE("counters do not know of each other") {
    FairShares shares;
    const FairShares::Window window{at(1s).steady, 1s};
    for (std::uint64_t owner = 0; owner < 2; ++owner)
        for (int i = 0; i < 9; ++i)
            static_cast<void>(shares.ask({1, key(1)}, key(owner), 1, 10, window, at(0s).steady));

    CHECK(shares.ask({1, key(1)}, key(0), 1, 10, window, at(0s).steady) == 5);
    CHECK(shares.ask({1, key(2)}, key(0), 1, 10, window, at(0s).steady) == 0);
    CHECK(shares.ask({2, key(1)}, key(0), 1, 10, window, at(0s).steady) == 0);
}

TEST_CASE("with very many owners shares are equal") {
    FairShares shares;
    const FairShares::Window window{at(1s).steady, 1s};
    constexpr std::uint64_t owners = 100;
    for (std::uint64_t owner = 0; owner < owners; ++owner)
        for (int i = 0; i < 5; ++i)
            static_cast<void>(shares.ask({1, {}}, key(owner), 1, 200, window, at(0s).steady));

    CHECK(shares.ask({1, {}}, key(0), 1, 200, window, at(0s).steady) == 2 * (owners - 1));
}

TEST_CASE("owners and counters are bounded, and the idle ones make room") {
    FairShares shares;
    const auto ask = [&](std::uint64_t counter, std::uint64_t owner, const Now& now) {
        return shares.ask(
            {counter, key(counter)}, key(owner), 1, 10'000, {now.steady + 1s, 1s}, now.steady);
    };
    for (std::uint64_t owner = 0; owner < 2 * FairShares::most_owners; ++owner)
        static_cast<void>(ask(0, owner, at(0s)));
    CHECK(ask(0, 0, at(0s)) == FairShares::most_owners - 1);
    CHECK(ask(0, 2 * FairShares::most_owners, at(0s)) == FairShares::most_owners + 1);

    for (std::uint64_t counter = 1; counter < 2 * FairShares::most_counters; ++counter)
        for (std::uint64_t owner = 0; owner < 2; ++owner)
            static_cast<void>(ask(counter, owner, at(0s)));
    const std::uint64_t last = 2 * FairShares::most_counters - 1;
    CHECK(ask(last, 0, at(0s)) == 0); // it had no room
    CHECK(ask(last, 0, at(10s)) == 0);
    CHECK(ask(last, 1, at(10s)) == 1);
}

TEST_CASE("whatever owners do, a window has its quota, and all of it is given out") {
    std::uint32_t seed = 1;
    for (int round = 0; round < 200; ++round, ++seed) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        const auto up_to = [&random](std::uint64_t most) { return random() % most + 1; };
        Sharing sharing{up_to(40), 1s, random() % 2 == 0 ? Anchor::clock : Anchor::first_request};
        std::vector<Asker> askers{{0, 500us}}; // it takes whatever is left
        const std::uint64_t others = up_to(12);
        for (std::uint64_t i = 1; i <= others; ++i) {
            const Duration from = std::chrono::microseconds{100 * random() % 20'000};
            const std::uint64_t cost = random() % 4 == 0 ? up_to(sharing.quota) : 1;
            askers.push_back(
                {i, std::chrono::microseconds{100 * up_to(4'000)}, from,
                 from + std::chrono::milliseconds{up_to(4'000)}, cost});
        }

        play(sharing, askers, 4s);

        const auto first = sharing.windows.begin()->first;
        for (const auto& [end, count] : sharing.windows)
            if (end < at(4s).steady.time_since_epoch() && end != first)
                CHECK(count == sharing.quota); // never more: see take()
    }
}
