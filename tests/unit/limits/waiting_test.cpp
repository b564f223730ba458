#include "waiting_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

TEST_CASE("exactly the window's number goes at each opening while three times as many wait") {
    Limit limit{window(1s)};
    Hall hall;
    const Want five{.limit = &limit, .quota = 5};
    for (std::size_t i = 1; i <= 5; ++i)
        CHECK(hall.enter(named("a", i), five, at(0s)) == Entered::admitted);
    for (std::size_t i = 6; i <= 20; ++i)
        CHECK(hall.enter(named("a", i), five, at(10ms)) == Entered::waiting);

    CHECK(hall.open(at(999'999us)) == "");
    CHECK(hall.open(at(1s)) == "a6 a7 a8 a9 a10");
    CHECK(hall.next == at(2s).steady);
    CHECK(hall.open(at(1s + 1us)) == "");
    CHECK(hall.open(at(2s)) == "a11 a12 a13 a14 a15");
    CHECK(hall.open(at(3s)) == "a16 a17 a18 a19 a20");
    CHECK(hall.next == SteadyTime::max());
    CHECK(limit.waiting() == 0);
    CHECK_FALSE(limit.awaited());
}

TEST_CASE("each worker is told once an opening") {
    Limit limit{window(1s)};
    Hall hall;
    for (int i = 0; i < 10; ++i)
        (void)hall.enter("a", {.limit = &limit, .quota = 3}, at(0s));

    (void)hall.room.open(at(1s));
    CHECK(hall.post.rings == 1);
    (void)hall.room.open(at(2s)); // not collected yet: it knows
    CHECK(hall.post.rings == 1);
    (void)hall.collected();
    (void)hall.room.open(at(3s));
    CHECK(hall.post.rings == 2);
}

TEST_CASE("the bell is told of the first opening, and of an earlier one") {
    Limit slow{window(5s)};
    Limit fast{window(1s)};
    Hall hall;
    (void)hall.enter("a", {.limit = &slow}, at(0s));
    (void)hall.enter("b", {.limit = &fast}, at(0s));
    CHECK(hall.alarm.next == SteadyTime::max());

    (void)hall.enter("a", {.limit = &slow}, at(0s));
    CHECK(hall.alarm.next == at(5s).steady);
    (void)hall.enter("b", {.limit = &fast}, at(0s));
    CHECK(hall.alarm.next == at(1s).steady);
    CHECK(hall.open(at(1s)) == "b");
    CHECK(hall.next == at(5s).steady);
}

TEST_CASE("a greedy party cannot lift a polite one's wait") {
    Limit limit{window(1s)};
    Hall hall;
    const Want two{.limit = &limit, .quota = 2};
    for (std::size_t i = 1; i <= 17; ++i)
        (void)hall.enter(named("g", i), two, at(0s)); // 15 wait
    (void)hall.enter("p1", two, at(500ms));

    CHECK(hall.open(at(1s)) == "g3 p1");
    CHECK(hall.open(at(2s)) == "g4 g5");
    (void)hall.enter("p2", two, at(2100ms));
    CHECK(hall.open(at(3s)) == "g6 p2");
}

TEST_CASE("a request that would have to wait longer than max_wait is refused at once") {
    Limit limit{window(1s)};
    Hall hall;
    const Want patient{.limit = &limit, .quota = 2, .max_wait = 2s};
    CHECK(hall.enter("a1", patient, at(0s)) == Entered::admitted);
    CHECK(hall.enter("a2", patient, at(0s)) == Entered::admitted);
    for (std::size_t i = 3; i <= 6; ++i) // two for each of the openings after 1 s and 2 s
        CHECK(hall.enter(named("a", i), patient, at(0s)) == Entered::waiting);

    CHECK(hall.enter("a7", patient, at(0s)) == Entered::refused);

    const Decision& refused = hall.waiter("a7").decision;
    CHECK(refused.refusal == Refusal::window);
    CHECK(refused.retry_after == 3s); // the opening that has room behind the waiters
    CHECK(limit.refused() == 1);
    CHECK(limit.waiting() == 4);
    CHECK(hall.post.rings == 0);
}

TEST_CASE("where the first opening comes after max_wait no request waits") {
    Limit limit{window(10s)};
    Hall hall;
    const Want impatient{.limit = &limit, .max_wait = 2s};
    (void)hall.enter("a1", impatient, at(0s));

    CHECK(hall.enter("a2", impatient, at(7s)) == Entered::refused);
    CHECK(hall.waiter("a2").decision.retry_after == 3s);
    CHECK(hall.enter("a3", impatient, at(8s)) == Entered::waiting);
    CHECK(hall.open(at(10s)) == "a3");
}

TEST_CASE("a waiter that a newcomer pushes past max_wait is refused at that moment") {
    Limit limit{window(1s)};
    Hall hall;
    const Want patient{.limit = &limit, .quota = 1, .max_wait = 2s};
    hall.enter_all({"g1", "g2", "g3"}, patient);

    CHECK(hall.enter("p1", patient, at(0s)) == Entered::waiting);

    CHECK(hall.collected() == "!g3");
    CHECK(hall.waiter("g3").decision.retry_after == 3s);
    CHECK(hall.open(at(1s)) == "g2");
    CHECK(hall.open(at(2s)) == "p1");
}

TEST_CASE("a waiter too many takes the place of the heaviest flow's youngest, or has none") {
    Limit limit{cap()};
    Hall hall;
    const Want few{.limit = &limit, .max_waiting = 3};
    (void)hall.enter("g1", few, at(0s));
    for (const char* name : {"g2", "g3", "g4"})
        CHECK(hall.enter(name, few, at(0s)) == Entered::waiting);

    CHECK(hall.enter("g5", few, at(0s)) == Entered::refused);
    CHECK(hall.enter("p1", few, at(0s)) == Entered::waiting);
    CHECK(hall.collected() == "!g4");
    CHECK(hall.enter("p2", few, at(0s)) == Entered::refused); // it would be as heavy as the greedy
    CHECK(limit.waiting() == 3);
    CHECK(limit.refused() == 3);
}

TEST_CASE("a released cap lets the next one go") {
    Limit limit{cap()};
    Hall hall;
    const Want one{.limit = &limit};
    hall.enter_all({"a1", "a2", "a3"}, one);
    CHECK(hall.open(at(100ms)) == "");

    hall.waiter("a1").decision.permit.release(at(200ms));

    CHECK(hall.alarm.next <= at(200ms).steady);
    CHECK(hall.open(at(200ms)) == "a2");
    CHECK(limit.in_flight() == 1);
    hall.waiter("a2").decision.permit = {}; // destroyed instead of released
    CHECK(hall.open(at(200ms)) == "a3");
}

TEST_CASE("a request joins the queue though a slot is free: it does not overtake") {
    ReleasedSlot slot;
    Hall& hall = slot.hall;

    CHECK(hall.enter("b1", slot.one, at(1s)) == Entered::waiting);
    CHECK(hall.open(at(1s)) == "a2");
}

TEST_CASE("a request that waits for a cap longer than max_wait is refused then") {
    Limit limit{cap()};
    Hall hall;
    const Want one{.limit = &limit, .max_wait = 2s};
    hall.enter_all({"a1", "a2"}, one);
    (void)hall.enter("a3", one, at(500ms));

    CHECK(hall.open(at(1999ms)) == "");
    CHECK(hall.next == at(2s).steady);
    CHECK(hall.open(at(2s)) == "!a2");
    CHECK(hall.waiter("a2").decision.refusal == Refusal::cap);
    CHECK(hall.waiter("a2").decision.retry_after == 2s); // one slot a second, one still before it
    CHECK(hall.open(at(2500ms)) == "!a3");
    CHECK(limit.refused() == 2);
}

TEST_CASE("a waiter that leaves gives up its place, or its slot if it was let go meanwhile") {
    Limit limit{cap()};
    Hall hall;
    const Want one{.limit = &limit};
    hall.enter_all({"a1", "a2", "a3", "a4"}, one);

    hall.room.leave(hall.waiter("a2"), at(1s));
    CHECK(limit.waiting() == 2);
    hall.waiter("a1").decision.permit.release(at(1s));
    (void)hall.room.open(at(1s)); // a3 has the slot, and does not know it yet
    hall.room.leave(hall.waiter("a3"), at(1s));

    CHECK(hall.open(at(1s)) == "a4");
}

TEST_CASE("a waiter that was let go and leaves before knowing it has not been counted") {
    Limit limit{window(1s)};
    Hall hall;
    hall.enter_all({"a1", "a2", "a3"}, {.limit = &limit});
    (void)hall.room.open(at(1s)); // a2 may go, and does not know it yet

    hall.room.leave(hall.waiter("a2"), at(1s));

    CHECK(hall.open(at(1s)) == "a3");
}

TEST_CASE("a charge that is given back lets the next one go") {
    Limit limit{window(10s)};
    Hall hall;
    hall.enter_all({"a1", "a2"}, {.limit = &limit});

    hall.waiter("a1").decision.permit.refund(0, at(1s));
    hall.waiter("a1").decision.permit.notify_waiters();

    CHECK(hall.alarm.next <= at(1s).steady);
    CHECK(hall.open(at(1s)) == "a2");
}

TEST_CASE("no waiter is tried before a request has given back all its parts") {
    Limit counted{window(10s)};
    Limit first{cap()};
    Limit second{cap()};
    const Want refused_by_second{.limit = &second, .max_wait = std::nullopt};
    Hall hall;
    hall.alarm.at_once = [&] { (void)hall.room.open(at(1s)); };

    SUBCASE("two slots") {
        const std::vector<Want> wants{{.limit = &first}, refused_by_second};
        REQUIRE(hall.enter("a1", wants, at(0s)) == Entered::admitted);
        REQUIRE(hall.enter("a2", wants, at(0s)) == Entered::waiting);
        SUBCASE("by its end") {
            hall.waiter("a1").decision.permit.release(at(1s));
        }
        SUBCASE("by its destruction") {
            hall.waiter("a1").decision.permit = {};
        }
    }
    SUBCASE("a charge and a slot") {
        const std::vector<Want> wants{{.limit = &counted}, refused_by_second};
        REQUIRE(hall.enter("a1", wants, at(0s)) == Entered::admitted);
        REQUIRE(hall.enter("a2", wants, at(0s)) == Entered::waiting);
        hall.waiter("a1").decision.permit.refund(0, at(1s));
        CHECK(hall.collected() == "");
        hall.waiter("a1").decision.permit.release(at(1s));
    }

    CHECK(hall.collected() == "a2");
}

TEST_CASE("a paced window lets its waiters go one by one") {
    Limit limit{window(1s)};
    Hall hall;
    const Want four{.limit = &limit, .quota = 4, .max_wait = 600ms, .pace = true};
    hall.enter_all({"a1", "a2", "a3"}, four);

    CHECK(hall.enter("a4", four, at(0s)) == Entered::refused); // its turn would be after 750 ms
    CHECK(hall.waiter("a4").decision.retry_after == 750ms);
    CHECK(hall.open(at(250ms)) == "a2");
    CHECK(hall.open(at(500ms)) == "a3");
}

TEST_CASE("parties share by cost") {
    Limit limit{window(1s)};
    Hall hall;
    const Want dear{.limit = &limit, .quota = 4, .cost = 2};
    const Want cheap{.limit = &limit, .quota = 4};
    hall.enter_all({"x", "x", "d1", "d2"}, dear);
    hall.enter_all({"c1", "c2", "c3", "c4"}, cheap);

    CHECK(hall.open(at(1s)) == "d1 c1 c2");
    CHECK(hall.open(at(2s)) == "d2 c3 c4");
}

TEST_CASE("each key has a line of its own") {
    Limit limit{keyed_window(1s, 100)};
    Hall hall;
    const Want one{.limit = &limit, .key = key(1)};
    const Want two{.limit = &limit, .key = key(2)};
    (void)hall.enter("a1", one, at(0s));
    CHECK(hall.enter("a2", one, at(0s)) == Entered::waiting);

    CHECK(hall.enter("b1", two, at(500ms)) == Entered::admitted);
    CHECK(hall.enter("b2", two, at(500ms)) == Entered::waiting);
    CHECK(hall.open(at(1s)) == "a2");
    CHECK(hall.open(at(1500ms)) == "b2");
}

TEST_CASE("a waiter that another limit refuses moves on to that one's line") {
    Limit first{window(1s)};
    Limit second{window(3s)};
    Hall hall;
    const Want a{.limit = &first};
    const Want b{.limit = &second};
    (void)hall.enter("x", a, at(0s));
    CHECK(hall.enter("m", {a, b}, at(0s)) == Entered::waiting);
    (void)hall.enter("y", b, at(0s));
    CHECK(hall.enter("z", a, at(0s)) == Entered::waiting);

    CHECK(hall.open(at(1s)) == "z"); // m is not in z's way
    CHECK(first.waiting() == 0);
    CHECK(second.waiting() == 1);
    CHECK(hall.open(at(3s)) == "m");
    CHECK(hall.waiter("m").waited_for == 1);
}

TEST_CASE("a waiter is refused by a limit that does not let it wait") {
    WaitingAndRefusing limits;
    auto& [first, second, hall, waits, refuses] = limits;
    (void)hall.enter("x", waits, at(0s));
    CHECK(hall.enter("m", {waits, refuses}, at(0s)) == Entered::waiting);
    (void)hall.enter("y", refuses, at(0s));

    CHECK(hall.open(at(1s)) == "!m");
    CHECK(hall.waiter("m").decision.refused_by == 1);
    CHECK(hall.waiter("m").decision.retry_after == 29s);
    CHECK(second.refused() == 1);
    CHECK(first.state_of({.quota = 1}, at(1s)).used == 0);
}

TEST_CASE("a waiter that moves on keeps its deadline and queues behind the waiters there") {
    Limit first{window(1s)};
    Limit second{window(2s)};
    Hall hall;
    const Want a{.limit = &first, .max_wait = 3s};
    const Want b{.limit = &second, .max_wait = 10s};
    (void)hall.enter("y1", b, at(0s));
    (void)hall.enter("x", a, at(0s));
    CHECK(hall.enter("m", {a, b}, at(0s)) == Entered::waiting); // b refuses for longer: its line
    CHECK(hall.enter("y2", b, at(0s)) == Entered::waiting);
    CHECK(hall.enter("y3", b, at(0s)) == Entered::waiting);

    CHECK(hall.open(at(2s)) == "m");
    CHECK(hall.open(at(4s)) == "y2");
    CHECK(hall.open(at(6s)) == "y3");
}

TEST_CASE("a waiter of a long turn is not taken for the last of all") {
    Limit limit{window(1s)};
    Hall hall;
    const Want want{.limit = &limit, .quota = 3, .max_wait = 1s};
    const Want patient{.limit = &limit, .quota = 3, .max_wait = 10s};
    const Want dear{.limit = &limit, .quota = 3, .max_wait = 10s, .cost = 3};
    REQUIRE(hall.enter("x", dear, at(0s)) == Entered::admitted);
    (void)hall.enter("a1", want, at(0s));
    (void)hall.enter("b1", patient, at(0s));
    (void)hall.enter("d1", dear, at(0s)); // turns let out three from now on
    hall.room.leave(hall.waiter("d1"), at(0s));

    (void)hall.enter("a2", want, at(0s));
    CHECK(hall.enter("a3", want, at(0s)) == Entered::waiting);

    CHECK(hall.open(at(1s)) == "a1 a2 a3");
    CHECK(hall.open(at(2s)) == "b1");
}

TEST_CASE("a request that costs more than there ever is does not wait behind others either") {
    Limit limit{window(1s)};
    Hall hall;
    const Want want{.limit = &limit, .quota = 3};
    const Want dear{.limit = &limit, .quota = 3, .cost = 4};
    REQUIRE(hall.enter("x", {.limit = &limit, .quota = 3, .cost = 3}, at(0s)) == Entered::admitted);
    hall.enter_all({"a1", "a2", "b1"}, want);

    CHECK(hall.enter("a3", dear, at(0s)) == Entered::refused);
    CHECK(hall.waiter("a3").decision.refusal == Refusal::cost);
    CHECK(limit.refused() == 1);
    CHECK(limit.waiting() == 3);

    CHECK(hall.open(at(1s)) == "a1 b1 a2"); // and it has made no turn longer
}

TEST_CASE("a raised number lets more go at once") {
    Limit limit{window(10s)};
    Hall hall;
    for (std::size_t i = 1; i <= 5; ++i)
        (void)hall.enter(named("a", i), {.limit = &limit, .max_wait = 60s}, at(0s));

    hall.room.update_quota(limit, [](const auto&) { return Numbers{.quota = 3}; });

    CHECK(hall.open(at(1s)) == "a2 a3");
    CHECK(hall.next == at(10s).steady);
    CHECK(hall.open(at(10s)) == "a4 a5");
}

TEST_CASE("waiters of a limit that becomes a dry run go at once") {
    Limit limit{window(10s)};
    Hall hall;
    for (std::size_t i = 1; i <= 3; ++i)
        (void)hall.enter(named("a", i), {.limit = &limit, .max_wait = 60s}, at(0s));

    hall.room.update_quota(
        limit, [](const auto&) { return Numbers{.quota = 1}; }, false);

    CHECK(hall.open(at(1s)) == "a2 a3");
}

TEST_CASE("numbers of one key wake the waiters with that key, and no others") {
    Limit limit{keyed_window(10s, 100)};
    Hall hall;
    const Hash128 gold{1, 0};
    const Hash128 plain{2, 0};
    for (std::size_t i = 1; i <= 3; ++i) {
        (void)hall.enter(
            named("g", i), {.limit = &limit, .key = gold, .max_wait = 60s, .text = "gold"}, at(0s));
        (void)hall.enter(named("p", i), {.limit = &limit, .key = plain, .max_wait = 60s}, at(0s));
    }

    hall.room.update_quota(limit, [](const std::optional<std::string>& key) {
        return Numbers{.quota = key == "gold" ? 2U : 1U};
    });

    CHECK(hall.open(at(1s)) == "g2");
    CHECK(hall.open(at(10s)) == "g3 p2");
}

TEST_CASE("a refusal by a limit that does not wait is told and counted at once") {
    Limit limit{window(1s)};
    Hall hall;
    const Want none{.limit = &limit, .max_wait = std::nullopt};
    CHECK(hall.enter("a1", none, at(0s)) == Entered::admitted);
    CHECK(hall.enter("a2", none, at(0s)) == Entered::refused);
    CHECK(hall.waiter("a2").decision.retry_after == 1s);
    CHECK(limit.refused() == 1);
}

TEST_CASE(
    "room that is too small for the first in line is the next one's once the first has gone") {
    Limit limit{window(10s)};
    Limit slots{cap()};
    Hall hall;
    const auto dear = [](Limit& of, Duration max_wait) {
        return Want{.limit = &of, .quota = 10, .max_wait = max_wait, .cost = 5};
    };
    const auto cheap = [](Limit& of) { return Want{.limit = &of, .quota = 10, .max_wait = 60s}; };

    SUBCASE("as it left") {
        (void)hall.enter("x", {.limit = &limit, .quota = 10, .cost = 9}, at(0s));
        REQUIRE(hall.enter("d", dear(limit, 60s), at(0s)) == Entered::waiting);
        REQUIRE(hall.enter("c", cheap(limit), at(0s)) == Entered::waiting);
        SUBCASE("at the next opening that is looked for") {
            hall.room.leave(hall.waiter("d"), at(1s));
            CHECK(hall.alarm.next <= at(1s).steady);
            CHECK(hall.open(at(1s)) == "c");
        }
        SUBCASE("by the waiter that leaves") {
            hall.alarm.at_once = [&] { (void)hall.room.open(at(1s)); };
            hall.room.leave(hall.waiter("d"), at(1s));
            CHECK(hall.collected() == "c");
        }
    }
    SUBCASE("as its time was over") {
        (void)hall.enter("x", {.limit = &slots, .quota = 10, .cost = 9}, at(0s));
        REQUIRE(hall.enter("d", dear(slots, 2s), at(0s)) == Entered::waiting);
        REQUIRE(hall.enter("c", cheap(slots), at(0s)) == Entered::waiting);
        CHECK(hall.open(at(1s)) == "");
        CHECK(hall.open(at(2s)) == "!d c");
    }
    SUBCASE("as both their times were over at the next look") {
        (void)hall.enter("x", {.limit = &slots, .quota = 10, .cost = 9}, at(0s));
        REQUIRE(hall.enter("d", dear(slots, 2s), at(0s)) == Entered::waiting);
        REQUIRE(
            hall.enter("c", {.limit = &slots, .quota = 10, .max_wait = 3s}, at(0s)) ==
            Entered::waiting);
        CHECK(hall.open(at(4s)) == "!d c");
    }
    SUBCASE("as it was one too many") {
        (void)hall.enter("x", {.limit = &limit, .quota = 10, .cost = 9}, at(0s));
        REQUIRE(hall.enter("d", dear(limit, 60s), at(0s)) == Entered::waiting);
        Want last = cheap(limit);
        last.max_waiting = 1;
        REQUIRE(hall.enter("c", last, at(1s)) == Entered::waiting);
        CHECK(hall.alarm.next <= at(1s).steady);
        CHECK(hall.open(at(1s)) == "!d c");
    }
}

TEST_CASE("a waiter that comes from another line and goes before the waiters there is tried") {
    Limit first{window(1s)};
    Limit second{window(20s)};
    Hall hall;
    const auto of = [](Limit& limit, std::uint64_t cost) {
        return Want{.limit = &limit, .quota = 10, .max_wait = 60s, .cost = cost};
    };
    (void)hall.enter("x", of(first, 10), at(0s));
    (void)hall.enter("y", of(second, 9), at(0s));
    REQUIRE(hall.enter("a1", {of(first, 1), of(second, 1)}, at(0s)) == Entered::waiting);
    REQUIRE(hall.enter("a2", of(second, 5), at(0s)) == Entered::waiting);

    CHECK(hall.open(at(1s)) == "a1"); // by way of the second line
    CHECK(hall.open(at(20s)) == "a2");
}

TEST_CASE("a request that has no place itself pushes no waiter out") {
    Limit limit{window(10s)};
    Limit slots{cap()};
    Hall hall;
    const auto few = [](Limit& of, std::optional<Duration> max_wait) {
        return Want{.limit = &of, .max_wait = max_wait, .max_waiting = 2};
    };

    SUBCASE("as it cannot wait") {
        for (Limit* const of : {&limit, &slots}) {
            hall.enter_all({"g1", "g2", "g3"}, few(*of, 60s));
            CHECK(hall.enter("p", few(*of, Duration::zero()), at(0s)) == Entered::refused);
        }
    }
    SUBCASE("as its turn would come too late") {
        hall.enter_all({"g1", "g2", "g3"}, few(limit, 60s));
        CHECK(hall.enter("p", few(limit, 5s), at(0s)) == Entered::refused);
    }
    SUBCASE("as those before it in the same turns leave it no room in time") {
        hall.enter_all({"x", "g1", "g2"}, few(limit, 60s));
        CHECK(hall.enter("p", few(limit, 15s), at(0s)) == Entered::refused); // g1 goes at 10 s
    }

    CHECK(hall.collected() == "");
    CHECK(limit.waiting() + slots.waiting() >= 2);
}

TEST_CASE("a request that cannot wait makes it too late for no waiter") {
    Limit limit{window(10s)};
    Hall hall;
    const Want two{.limit = &limit, .quota = 2, .max_wait = 20s};
    hall.enter_all({"x", "x"}, two);
    for (const char* const name : {"a1", "a2", "a3", "a4"})
        REQUIRE(hall.enter(name, two, at(0s)) == Entered::waiting);

    // The window is over, and they have not been let go yet. A check would be the second, and
    // leaves.
    (void)hall.enter("b", {.limit = &limit, .quota = 2, .max_wait = Duration::zero()}, at(10s));
    hall.room.leave(hall.waiter("b"), at(10s));

    CHECK(hall.open(at(10s)) == "a1 a2");
    CHECK(hall.open(at(20s)) == "a3 a4");
}

TEST_CASE("waiters of an evenly spaced limit keep its rate though each opening is noticed late") {
    LimitSpec spec = window(1s);
    Want want{.quota = 400, .max_waiting = 100'000};
    SUBCASE("a bucket of one") {
        spec.identity.algorithm = Algorithm::token_bucket;
        want.burst = 1;
    }
    SUBCASE("a paced bucket") {
        spec.identity.algorithm = Algorithm::token_bucket;
        want.pace = true;
    }
    SUBCASE("a paced sliding window") {
        spec.identity.algorithm = Algorithm::sliding_window;
        want.pace = true;
    }
    Limit limit{spec};
    want.limit = &limit;
    Hall hall;
    for (int i = 0; i < 500; ++i)
        (void)hall.enter("a", want, at(0s));

    std::size_t gone = 1;
    hall.next = hall.alarm.next;
    for (SteadyTime now{}; now < at(1s).steady;) {
        now = hall.next + 800us;
        const std::string names = hall.open(at(now - start.steady));
        gone += static_cast<std::size_t>(std::count(names.begin(), names.end(), 'a'));
    }

    CHECK(gone >= 399);
    CHECK(gone <= 402);
}

TEST_CASE("what a late opening makes up for is one turn") {
    LimitSpec spec = window(1s);
    spec.identity.algorithm = Algorithm::token_bucket;
    Limit limit{spec};
    Hall hall;
    const Want want{.limit = &limit, .quota = 10, .burst = 1};
    hall.enter_all({"x", "a1", "a2", "a3", "a4", "a5"}, want);

    CHECK(hall.open(at(130ms)) == "a1");
    CHECK(hall.next == at(200ms).steady); // as if it had gone in time
    CHECK(hall.open(at(750ms)) == "a2 a3");
    CHECK(hall.next == at(850ms).steady);
}

TEST_CASE("an opening is late only for a request that waited for it") {
    LimitSpec spec = window(1s);
    spec.identity.algorithm = Algorithm::token_bucket;
    Limit limit{spec};
    Hall hall;
    const Want want{.limit = &limit, .quota = 10, .burst = 1};
    (void)hall.enter("x", want, at(0s));
    (void)hall.enter("y", want, at(150ms));
    (void)hall.enter("a", want, at(150ms));
    CHECK(hall.alarm.next == at(250ms).steady);
}

TEST_CASE("the cost of a waiter counts once where a limit refills evenly") {
    for (const bool paced : {false, true}) {
        CAPTURE(paced);
        LimitSpec spec = window(2s);
        if (!paced)
            spec.identity.algorithm = Algorithm::token_bucket;
        Limit limit{spec};
        Hall hall;
        const auto want = [&](std::uint64_t cost, Duration max_wait) {
            return Want{
                .limit = &limit,
                .quota = 5,
                .max_wait = max_wait,
                .cost = cost,
                .pace = paced,
                .burst = paced ? 0U : 5U};
        };
        // A bucket has one of five left after this, a paced window its next in 800 ms.
        REQUIRE(hall.enter("x", want(paced ? 2 : 4, 0s), at(0s)) == Entered::admitted);

        CHECK(hall.enter("a", want(3, 900ms), at(0s)) == Entered::waiting);
        CHECK(hall.alarm.next == at(800ms).steady);
        CHECK(hall.enter("b", want(1, 1s), at(0s)) == Entered::refused); // behind it
        CHECK(hall.open(at(800ms)) == "a");
    }
}
