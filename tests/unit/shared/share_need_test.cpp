// The least part of a number that a gateway tells the store to need.
#include "fixture.hpp"

using namespace stint;
using namespace stint::shared;
using namespace stint::shared::test;

TEST_CASE("a gateway needs the least cost of its latest wants, and forgets one of long ago") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want(1) == Wanted::asked);
    CHECK(gateway.need() == "1");
    gateway.answer(gateway.sync_reply(0, 2));
    const SteadyTime begin = gateway.now.steady;
    while (gateway.now.steady < begin + 3500ms) {
        gateway.pass(200ms);
        gateway.answer_beats();
        const std::size_t before = gateway.syncs();
        if (gateway.want(6) != Wanted::asked)
            continue;
        REQUIRE(gateway.syncs() == before + 1);
        CHECK(gateway.need() == (gateway.now.steady < begin + 2s ? "1" : "6"));
        gateway.answer(gateway.sync_reply(0, 2));
    }
    CHECK(gateway.need() == "6");
}

TEST_CASE("where requests wait, a gateway needs what the first one costs") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want(1) == Wanted::asked);
    gateway.answer(gateway.sync_reply(2, 2));
    gateway.limit->add_waiting(1);
    CHECK_FALSE(gateway.request(6).allowed()); // the first in the queue is tried
    gateway.pass(2s);
    gateway.answer_beats();
    CHECK(gateway.want(1) == Wanted::asked); // one behind it
    CHECK(gateway.need() == "6");
    gateway.limit->add_waiting(-1);
}

TEST_CASE("a gateway that stays long after it has given all up is not busy") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(2, 2));
    CHECK(gateway.request().allowed());
    CHECK_FALSE(gateway.client.leave(gateway.now));
    gateway.client.tick(gateway.now);
    gateway.answer(gateway.sync_reply(1, 1));      // what was used
    for (int second = 0; second < 300; ++second) { // longer than counters are kept
        gateway.pass(1s);
        CHECK(gateway.client.tick(gateway.now) > gateway.now.steady - 1s);
        gateway.answer_beats();
    }
}
