// What a request that may wait would be answered, without entering.
#include "waiting_fixture.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

TEST_CASE("a preview of a request that would be admitted charges nothing and tells what is left") {
    Limit limit{window(1s)};
    Limit slots{cap()};
    Hall hall;
    const std::vector<Want> wants{{.limit = &limit, .quota = 3}, {.limit = &slots, .quota = 2}};
    REQUIRE(hall.enter("a", wants, at(0s)) == Entered::admitted);

    for (int i = 0; i < 3; ++i) {
        const auto preview = hall.preview(wants, at(100ms));
        CHECK(preview.outcome == Entered::admitted);
        CHECK(preview.decision.allowed());
        CHECK_FALSE(preview.decision.permit.holds_slots());
    }

    CHECK(hall.states[0].counter.remaining == 2);
    CHECK(hall.states[1].counter.used == 1);
    CHECK(state(limit, at(100ms)).used == 1);
    CHECK(slots.in_flight() == 1);
    CHECK_FALSE(limit.awaited());
}

TEST_CASE("a preview of a request that would wait tells when its turn comes and at which limit") {
    Limit roomy{window(1s)};
    Limit limit{window(1s)};
    Hall hall;
    const std::vector<Want> wants{{.limit = &roomy, .quota = 100}, {.limit = &limit, .quota = 2}};
    (void)hall.enter("a1", wants, at(0s));
    (void)hall.enter("a2", wants, at(0s));

    for (const Duration turn : {1s, 1s, 2s, 2s, 3s}) {
        const auto preview = hall.preview(wants, at(250ms));
        CHECK(preview.outcome == Entered::waiting);
        CHECK(preview.wait == turn - 250ms);
        CHECK(preview.waited_for == 1);
        CHECK(hall.states[1].refusal == Refusal::window);
        REQUIRE(hall.enter("a", wants, at(250ms)) == Entered::waiting);
    }

    CHECK(limit.waiting() == 5);
    CHECK(hall.post.rings == 0);
    CHECK(hall.open(at(1s)) == "a a");
    CHECK(hall.open(at(2s)) == "a a");
    CHECK(hall.open(at(3s)) == "a");
}

TEST_CASE("a preview alone leaves no line behind, and the scheduler is not told of one") {
    Limit limit{keyed_window(1s, 100)};
    Hall hall;
    const Want one{.limit = &limit, .key = key(1)};
    (void)hall.enter("a", one, at(0s));

    CHECK(hall.preview(one, at(0s)).outcome == Entered::waiting);

    CHECK(hall.alarm.next == SteadyTime::max());
    CHECK(limit.waiting() == 0);
    CHECK_FALSE(limit.awaited());
    CHECK(hall.enter("b", one, at(1s)) == Entered::admitted);
}

TEST_CASE("a preview of a request whose turn would come after max_wait is refused as by enter()") {
    Limit limit{window(1s)};
    Hall hall;
    const Want patient{.limit = &limit, .quota = 2, .max_wait = 2s};
    hall.enter_all({"a1", "a2"}, patient);
    for (std::size_t i = 3; i <= 6; ++i) {
        CHECK(hall.preview(patient, at(0s)).outcome == Entered::waiting);
        REQUIRE(hall.enter(named("a", i), patient, at(0s)) == Entered::waiting);
    }

    const auto preview = hall.preview(patient, at(0s));

    CHECK(preview.outcome == Entered::refused);
    CHECK(preview.decision.refusal == Refusal::window);
    CHECK(preview.decision.retry_after == 3s);
    CHECK(limit.refused() == 0);
    REQUIRE(hall.enter("a7", patient, at(0s)) == Entered::refused);
    CHECK(hall.waiter("a7").decision.retry_after == 3s);
}

TEST_CASE("a preview of a request is refused if the first opening comes too late") {
    Limit limit{window(10s)};
    Hall hall;
    const Want impatient{.limit = &limit, .max_wait = 2s};
    (void)hall.enter("a1", impatient, at(0s));

    const auto early = hall.preview(impatient, at(8s - 1ns));
    CHECK(early.outcome == Entered::refused);
    CHECK(early.decision.retry_after == 2s + 1ns);
    const auto in_time = hall.preview(impatient, at(8s));
    CHECK(in_time.outcome == Entered::waiting);
    CHECK(in_time.wait == 2s);
}

TEST_CASE("a preview goes by the newcomer's own numbers, and leaves those of the line") {
    Limit limit{window(1s)};
    Hall hall;
    const Want one{.limit = &limit};
    const Want two{.limit = &limit, .quota = 2};
    (void)hall.enter("a1", one, at(0s));
    hall.enter_all({"a2", "a3", "a4"}, one);

    CHECK(hall.preview(two, at(0s)).wait == 2s); // two at each opening
    CHECK(hall.preview(one, at(0s)).wait == 4s);
    const Want in_time{.limit = &limit, .quota = 2, .max_wait = 2s};
    CHECK(hall.preview(in_time, at(0s)).outcome == Entered::waiting);
    const Want too_late{.limit = &limit, .max_wait = 4s - 1ns};
    CHECK(hall.preview(too_late, at(0s)).outcome == Entered::refused);
}

TEST_CASE("a preview of one request too many is refused, unless the fair order finds it a place") {
    Limit limit{cap()};
    Hall hall;
    const Want few{.limit = &limit, .max_waiting = 3};
    (void)hall.enter("g1", few, at(0s));
    for (const char* const name : {"g2", "g3", "g4"}) {
        CHECK(hall.preview(few, at(0s), "g").outcome == Entered::waiting);
        (void)hall.enter(name, few, at(0s));
    }

    const auto preview = hall.preview(few, at(0s), "g");
    const auto other = hall.preview(few, at(0s), "p");

    CHECK(preview.outcome == Entered::refused);
    CHECK(preview.decision.refusal == Refusal::cap);
    CHECK(preview.decision.retry_after == 4s); // a slot a second, three before it
    CHECK(other.outcome == Entered::waiting);
    CHECK(other.wait == 2s); // it has the second turn
    CHECK(limit.waiting() == 3);
    CHECK(hall.collected() == "");
    CHECK(hall.enter("p", few, at(0s)) == Entered::waiting); // in the place of g4
    CHECK(hall.collected() == "!g4");
}

TEST_CASE("a preview of another flow counts the turns before its own, not all who wait") {
    Limit limit{window(1s)};
    Hall hall;
    const Want one{.limit = &limit, .max_wait = 4s};
    hall.enter_all({"a1", "a2", "a3", "a4", "a5"}, one);

    CHECK(hall.preview(one, at(0s), "a").outcome == Entered::refused);
    const auto other = hall.preview(one, at(0s), "b");
    CHECK(other.outcome == Entered::waiting);
    CHECK(other.wait == 2s);
    // A dearer one lengthens every turn while it stands there: not once its preview is over.
    const Want dear{.limit = &limit, .quota = 3, .max_wait = 4s, .cost = 3};
    (void)hall.preview(dear, at(0s), "b");

    CHECK(limit.waiting() == 4);
    REQUIRE(hall.enter("b", one, at(0s)) == Entered::waiting);
    CHECK(hall.collected() == "!a5"); // which was the last, and comes too late now
    CHECK(hall.open(at(1s)) == "a2");
    CHECK(hall.open(at(2s)) == "b");
    CHECK(hall.open(at(3s)) == "a3");
}

TEST_CASE("a preview before a cap estimates a slot about every so often") {
    Limit limit{cap()};
    Hall hall;
    const Want one{.limit = &limit};
    (void)hall.enter("a1", one, at(0s));

    CHECK(hall.preview(one, at(0s)).wait == 1s);
    (void)hall.enter("a2", one, at(0s));
    CHECK(hall.preview(one, at(0s)).wait == 2s);
}

TEST_CASE("a previewed request would join the queue though a slot is free") {
    ReleasedSlot slot;
    Hall& hall = slot.hall;

    CHECK(hall.preview(slot.one, at(1s)).outcome == Entered::waiting);
    CHECK(hall.states[0].refusal == Refusal::none);
    CHECK(hall.open(at(1s)) == "a2");
}

TEST_CASE("a preview of a request that cannot wait is refused where it would have to") {
    Limit limit{window(1s)};
    Limit slots{cap()};
    Hall hall;
    for (Limit* const of : {&limit, &slots}) {
        const Want now_or_never{.limit = of, .max_wait = Duration::zero()};
        CHECK(hall.preview(now_or_never, at(0s)).outcome == Entered::admitted);
        (void)hall.enter("a1", {.limit = of}, at(0s));
        CHECK(hall.preview(now_or_never, at(0s)).outcome == Entered::refused);
        (void)hall.enter("a2", {.limit = of}, at(0s));

        const auto preview = hall.preview(now_or_never, at(1s)); // the window has opened for a2
        CHECK(preview.outcome == Entered::refused);
        CHECK(preview.decision.retry_after > Duration::zero());
    }
}

TEST_CASE("a preview of a request is refused as by the limit that does not let it wait") {
    WaitingAndRefusing limits;
    auto& [first, second, hall, waits, refuses] = limits;
    REQUIRE(hall.enter("x", {waits, refuses}, at(0s)) == Entered::admitted);

    const auto preview = hall.preview({waits, refuses}, at(10s));

    CHECK(preview.outcome == Entered::refused);
    CHECK(preview.decision.refused_by == 1);
    CHECK(preview.decision.retry_after == 20s);
    CHECK(second.refused() == 0);
}

TEST_CASE("a preview of a request that costs more than there ever is does not wait behind others") {
    Limit limit{window(1s)};
    Hall hall;
    const Want want{.limit = &limit, .quota = 3};
    const Want dear{.limit = &limit, .quota = 3, .cost = 4};
    (void)hall.enter("x", {.limit = &limit, .quota = 3, .cost = 3}, at(0s));
    (void)hall.enter("a", want, at(0s));

    const auto preview = hall.preview(dear, at(0s));

    CHECK(preview.outcome == Entered::refused);
    CHECK(preview.decision.refusal == Refusal::cost);
}
