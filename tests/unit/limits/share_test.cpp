// A key's share of a limit's numbers, which changes while the limit counts.
#include "limits/counter/tally.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/reservation/reservations.hpp"
#include "waiting_fixture.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

constexpr Algorithm all[] = {
    Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::token_bucket,
    Algorithm::concurrency};

LimitSpec of(Algorithm algorithm, Anchor anchor = Anchor::first_request) {
    LimitSpec spec = keyed_window(10s, 100, anchor);
    spec.identity.algorithm = algorithm;
    if (algorithm == Algorithm::concurrency)
        spec.identity.per = {};
    return spec;
}

Share share(std::uint64_t quota, Duration until = 1h) {
    return {{quota, 0}, at(until).steady};
}

// The admissions that one more request after the other gets.
std::vector<Permit> take_all(Limit& limit, std::uint64_t quota, const Now& now, Hash128 of) {
    std::vector<Permit> taken;
    for (;;) {
        Decision decision = admit_one(limit, quota, now, of);
        if (!decision.allowed())
            return taken;
        taken.push_back(std::move(decision.permit));
    }
}

} // namespace

TEST_CASE("a share narrows the quota of its key at once, and of no other") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        REQUIRE(limit.set_share(key(1), share(3), at(0s)));

        CHECK(take_all(limit, 8, at(0s), key(1)).size() == 3);
        CHECK(take_all(limit, 8, at(0s), key(2)).size() == 8);
        CHECK(limit.share(key(1), at(0s)).numbers == Numbers{3, 0});
        CHECK_FALSE(limit.share(key(2), at(0s)).numbers);
        CHECK(take_all(limit, 2, at(30s), key(1)).size() == 2); // the charge's own is less
    }
}

TEST_CASE("a smaller share refuses until enough has left, and a larger one admits at once") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        std::vector<Permit> taken = take_all(limit, 8, at(0s), key(1));
        REQUIRE(taken.size() == 8);

        REQUIRE(limit.set_share(key(1), share(2), at(1s)));
        CHECK_FALSE(admit_one(limit, 8, at(1s), key(1)).allowed());
        CHECK(state(limit, at(1s), key(1), 8).remaining == 0);
        taken.clear(); // a cap's slots
        CHECK(take_all(limit, 8, at(20s), key(1)).size() == 2);

        REQUIRE(limit.set_share(key(1), share(5), at(20s)));
        CHECK(
            state(limit, at(20s), key(1), 8).remaining ==
            (algorithm == Algorithm::concurrency ? 5 : 3));
        CHECK(admit_one(limit, 8, at(20s), key(1)).allowed());
    }
}

TEST_CASE("the windows of the wall clock keep a share from one to the next") {
    Limit limit{of(Algorithm::fixed_window, Anchor::clock)};
    REQUIRE(limit.set_share(key(1), share(3), at(0s)));
    CHECK(take_all(limit, 8, at(5s), key(1)).size() == 3);
    CHECK(take_all(limit, 8, at(15s), key(1)).size() == 3);
    REQUIRE(limit.set_share(key(1), share(4), at(16s)));
    CHECK(take_all(limit, 8, at(16s), key(1)).size() == 1);
}

TEST_CASE("a share of nothing admits nothing, and its Retry-After comes") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        REQUIRE(limit.set_share(key(1), share(0), at(0s)));

        const Decision refused = admit_one(limit, 8, at(0s), key(1));

        CHECK(
            refused.refusal ==
            (algorithm == Algorithm::concurrency ? Refusal::cap : Refusal::window));
        CHECK(refused.retry_after == (algorithm == Algorithm::concurrency ? 1s : 10s));
        CHECK(state(limit, at(0s), key(1), 8).remaining == 0);
    }
}

TEST_CASE("a cost above the share may yet be admitted, and one above the limit never") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        REQUIRE(limit.set_share(key(1), share(3), at(0s)));
        Charge charge{.limit = &limit, .key = key(1), .quota = 8, .cost = 5};

        CHECK(admit({&charge, 1}, at(0s)).refusal != Refusal::cost);
        CHECK(affordable({&charge, 1}, at(0s)));
        charge.cost = 9;
        CHECK(admit({&charge, 1}, at(0s)).refusal == Refusal::cost);
        charge.cost = 5;
        REQUIRE(limit.set_share(key(1), share(5), at(0s)));
        CHECK(admit({&charge, 1}, at(0s)).allowed());
    }
}

TEST_CASE("a share ends at its instant, or when its counter has nothing left") {
    for (const Algorithm algorithm : {Algorithm::fixed_window, Algorithm::sliding_window}) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        REQUIRE(limit.set_share(key(1), share(3, 4s), at(0s)));
        REQUIRE(limit.set_share(key(2), {{3, 0}}, at(0s)));
        REQUIRE(admit_one(limit, 8, at(8s), key(2)).allowed());

        CHECK(limit.share(key(1), at(4s - 1ns)).numbers);
        CHECK_FALSE(limit.share(key(1), at(4s)).numbers);
        CHECK(take_all(limit, 8, at(4s), key(1)).size() == 8);
        CHECK(limit.share(key(2), at(18s - 1ns)).numbers);
        CHECK_FALSE(limit.share(key(2), at(18s)).numbers);
        CHECK(take_all(limit, 8, at(18s), key(2)).size() == 8);
        CHECK_FALSE(limit.share(key(2), at(18s)).numbers); // what it had then is over
    }
}

TEST_CASE("a preview answers by the share, and so does the state") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        REQUIRE(limit.set_share(key(1), share(1), at(0s)));
        const Charge charge{.limit = &limit, .key = key(1), .quota = 8};
        ChargeState state;
        CHECK(preview({&charge, 1}, at(0s), {&state, 1}).allowed());
        CHECK(state.counter.remaining == 1);
        const Decision first = admit({&charge, 1}, at(0s));

        const Decision second = preview({&charge, 1}, at(0s), {&state, 1});

        CHECK_FALSE(second.allowed());
        CHECK(state.counter.remaining == 0);
        CHECK(second.retry_after == admit({&charge, 1}, at(0s)).retry_after);
    }
}

TEST_CASE("what was charged before a share is given back after it") {
    for (const Algorithm algorithm : {Algorithm::fixed_window, Algorithm::sliding_window}) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        const Charge charge{
            .limit = &limit, .key = key(1), .quota = 8, .cost = 6, .refundable = true};
        Decision first = admit({&charge, 1}, at(0s));
        REQUIRE(limit.set_share(key(1), share(4), at(1s)));
        CHECK_FALSE(admit_one(limit, 8, at(1s), key(1)).allowed());

        first.permit.settle(0, 3, at(2s));

        CHECK(take_all(limit, 8, at(2s), key(1)).size() == 1);
    }
}

TEST_CASE("a bucket pays by a smaller share from the moment at which it owes no more than that") {
    Limit limit{of(Algorithm::token_bucket)};
    REQUIRE(take_all(limit, 10, at(0s), key(1)).size() == 10);
    REQUIRE(limit.set_share(key(1), share(2), at(0s)));
    CHECK(state(limit, at(4s), key(1), 10).used == 6); // still 10 in 10 s

    REQUIRE(limit.set_share(key(1), share(2), at(8s)));
    CHECK(state(limit, at(8s), key(1), 10).used == 2);
    CHECK(state(limit, at(13s - 1ns), key(1), 10).used == 2); // 2 in 10 s
    CHECK(state(limit, at(13s), key(1), 10).used == 1);
}

TEST_CASE(
    "the use of a fixed window includes the one before it, as long as it is in the last `per`") {
    for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
        CAPTURE(static_cast<int>(anchor));
        Limit limit{of(Algorithm::fixed_window, anchor)}; // both begin at 0 s, 10 s and 20 s
        const Charge one{.limit = &limit, .key = key(1), .quota = 8, .refundable = true};
        REQUIRE(admit_one(limit, 8, at(0s), key(1)).allowed());
        CHECK(limit.use(one, at(0s)) == 1);
        REQUIRE(limit.set_share(key(1), share(3), at(1s)));
        REQUIRE(admit_one(limit, 8, at(8s), key(1)).allowed());
        CHECK(limit.use(one, at(9s)) == 2);

        REQUIRE(take_all(limit, 8, at(10s), key(1)).size() == 3);

        CHECK(limit.use(one, at(10s)) == 5);
        CHECK(limit.use(one, at(18s - 1ns)) == 5); // as if all of it had come at 8 s
        CHECK(limit.use(one, at(18s)) == 3);
        CHECK(limit.use(one, at(20s)) == 0);
        Decision later = admit({&one, 1}, at(21s));
        CHECK(limit.use(one, at(21s)) == 1);
        later.permit.refund(0, at(21s));
        CHECK(limit.use(one, at(21s)) == 0);
    }
}

TEST_CASE("the use is what counts in the last `per`, what is owed, and what is held") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        REQUIRE(limit.set_share(key(1), share(4), at(0s)));
        const Charge one{.limit = &limit, .key = key(1), .quota = 8};
        CHECK(limit.use(one, at(0s)) == 0);
        const std::vector<Permit> taken = take_all(limit, 8, at(0s), key(1));
        CHECK(limit.use(one, at(0s)) == 4);
        CHECK(limit.use(one, at(5s)) == (algorithm == Algorithm::token_bucket ? 2 : 4));
        CHECK(limit.use(one, at(11s)) == (algorithm == Algorithm::concurrency ? 4 : 0));
    }
}

TEST_CASE("counts come back without their shares") {
    Limit former{of(Algorithm::fixed_window)};
    REQUIRE(former.set_share(key(1), share(3), at(0s)));
    REQUIRE(take_all(former, 8, at(0s), key(1)).size() == 3);
    std::vector<SavedPage> pages;
    former.save(0, former.take_changed(0), at(1s), pages);
    REQUIRE(pages.size() == 1);

    Limit next{of(Algorithm::fixed_window)};
    const RestoredPage page{pages[0].page, pages[0].bytes, 0ns};
    REQUIRE(next.restore({&page, 1}, at(1s)));

    CHECK_FALSE(next.share(key(1), at(1s)).numbers);
    CHECK(take_all(next, 8, at(1s), key(1)).size() == 5);
}

TEST_CASE("a larger share wakes those who wait for it, and a smaller one gives fewer places") {
    Limit limit{window(10s)};
    REQUIRE(limit.set_share({}, share(1), at(0s)));
    Hall hall;
    const Want want{.limit = &limit, .quota = 3, .max_wait = 15s};
    CHECK(hall.enter("a1", want, at(0s)) == Entered::admitted);
    CHECK(hall.enter("a2", want, at(0s)) == Entered::waiting);
    CHECK(hall.preview(want, at(0s)).outcome == Entered::refused); // one each 10 s
    hall.next = hall.room.open(at(1s));
    CHECK(hall.collected().empty());

    REQUIRE(limit.set_share({}, share(2), at(1s)));

    CHECK(hall.alarm.next == SteadyTime::min());
    CHECK(hall.open(at(1s)) == "a2");
    CHECK(hall.enter("a3", want, at(1s)) == Entered::waiting);
    CHECK(hall.enter("a4", want, at(1s)) == Entered::waiting); // two each 10 s
    CHECK(hall.enter("a5", want, at(1s)) == Entered::refused);
}

TEST_CASE("slots in coming windows are given within the share") {
    Limit limit{window(10s)};
    REQUIRE(limit.set_share({}, share(1), at(0s)));
    const auto ask = [&](std::uint64_t client, Duration when) {
        std::array charges{Charge{.limit = &limit, .quota = 5}};
        std::array reserving{Reservation{.charge = 0, .client = key(client)}};
        return admit_reserving(charges, reserving, at(when)).retry_after;
    };
    CHECK(ask(1, 0s) == 0s);
    CHECK(ask(2, 0s) == 10s);
    CHECK(ask(3, 0s) > 20s);
    CHECK(ask(2, 10s) == 0s);
    CHECK(ask(1, 10s) > 0s); // the window is held, and used up
    REQUIRE(limit.set_share({}, share(0), at(11s)));
    CHECK(ask(4, 11s) > 0s);
}

TEST_CASE("a key that is counted in the sketch has its share, too") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        LimitSpec spec = of(algorithm);
        spec.max_keys = 1;
        Limit limit{spec};
        const Decision other = admit_one(limit, 8, at(0s), key(0));
        REQUIRE(limit.set_share(key(1), {{2, 0}}, at(0s)));

        const std::vector<Permit> taken = take_all(limit, 8, at(0s), key(1));

        CHECK(taken.size() == 2);
        CHECK(limit.tally().overflowed() == 2);
        CHECK(state(limit, at(0s), key(1), 8).remaining == 0);
        CHECK(limit.share(key(1), at(9s)).numbers);
    }
}

TEST_CASE("there are as many shares as there may be keys, and those that are over make room") {
    LimitSpec spec = of(Algorithm::fixed_window);
    spec.max_keys = 20;
    Limit limit{spec};
    for (std::uint64_t i = 0; i < 20; ++i)
        REQUIRE(
            limit.set_share(key(i), share(1, 1min + 1s * static_cast<std::int64_t>(i)), at(0s)));

    CHECK_FALSE(limit.set_share(key(20), share(1), at(1s)));
    CHECK(limit.set_share(key(19), share(2), at(1s))); // it has its place
    CHECK(limit.set_share(key(20), share(1), at(2min)));
    CHECK(limit.share(key(20), at(2min)).numbers);
}

TEST_CASE("shares that other threads set hold for every charge") {
    constexpr std::uint64_t threads = 3;
    Limit limit{cap()};
    std::atomic<std::uint64_t> inside{0};
    std::atomic<std::uint64_t> most{0};
    std::vector<std::thread> running;
    REQUIRE(limit.set_share({}, share(2), at(0s)));
    for (std::uint64_t i = 0; i < threads; ++i)
        running.emplace_back([&] {
            for (int round = 0; round < 3000; ++round) {
                Decision decision = admit_one(limit, 50, at(0s));
                if (!decision.allowed())
                    continue;
                const std::uint64_t now = inside.fetch_add(1) + 1;
                for (std::uint64_t seen = most;
                     seen < now && !most.compare_exchange_weak(seen, now);)
                    ;
                inside.fetch_sub(1);
                decision.permit.release(at(0s));
            }
        });
    for (std::uint64_t round = 0; round < 3000; ++round)
        REQUIRE(limit.set_share({}, share(round % 3), at(0s)));
    for (std::thread& each : running)
        each.join();

    CHECK(most <= 2);
    CHECK(limit.in_flight() == 0);
}

TEST_CASE("a key without a share has the reserve, if there is one") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit closed{of(algorithm)};
        closed.share_policy().reserve_without_share({0, 0});
        Limit limit{of(algorithm)};
        limit.share_policy().reserve_without_share({2, 0});
        REQUIRE(limit.set_share(key(1), share(3), at(0s)));

        CHECK(take_all(closed, 8, at(0s), key(1)).empty());
        CHECK(closed.share(key(1), at(0s)).numbers == Numbers{0, 0});
        CHECK(take_all(limit, 8, at(0s), key(1)).size() == 3);
        const auto held = take_all(limit, 8, at(0s), key(2));
        CHECK(held.size() == 2);
        CHECK(limit.share(key(2), at(0s)).numbers == Numbers{2, 0});
        CHECK(limit.state_of({.limit = &limit, .key = key(2), .quota = 8}, at(0s)).remaining == 0);
    }
}

TEST_CASE("from the end of the shares on every key has the reserve only") {
    for (const Algorithm algorithm : all) {
        CAPTURE(static_cast<int>(algorithm));
        Limit limit{of(algorithm)};
        limit.share_policy().reserve_without_share({1, 0});
        REQUIRE(limit.set_share(key(1), share(5), at(0s)));
        limit.share_policy().end_at(at(20s).steady);

        CHECK(take_all(limit, 8, at(0s), key(1)).size() == 5);
        CHECK(take_all(limit, 8, at(19s), key(1)).size() == 5);
        CHECK(take_all(limit, 8, at(40s), key(1)).size() == 1);
        CHECK(limit.share(key(1), at(40s)).numbers == Numbers{1, 0});
        limit.share_policy().end_at(at(100s).steady);
        CHECK(take_all(limit, 8, at(60s), key(1)).size() == 5);
    }
}
