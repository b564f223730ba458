// Wants for which another gateway gives up a part of its share.
#include "fixture.hpp"

namespace {

using namespace stint;
using namespace stint::shared;
using stint::shared::test::Gateway;

using namespace std::chrono_literals;

// A gateway that wants a counter all of which another gateway holds.
struct Asking : Gateway {
    Asking() {
        join();
        CHECK(want() == Wanted::asked);
        pass(1ms);
        answer(sync_reply(0, 5, 1));
    }
    void message() { client.recall("gives other c", now); }
};

TEST_CASE("a want waits for what the store recalls from another gateway") {
    Asking gateway;
    CHECK(gateway.log.empty());

    gateway.pass(1ms);
    gateway.message();
    CHECK(gateway.syncs() == 2);
    gateway.answer(gateway.sync_reply(5, 5));
    CHECK(gateway.log == "answered c; ");
    CHECK(gateway.client.share("c") == 5);
}

TEST_CASE("a want that comes during such a wait joins it") {
    Asking gateway;
    CHECK(gateway.request().ask_store == 1);
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.syncs() == 1);
}

TEST_CASE("a want is told after the longest wait that nothing has come") {
    Asking gateway;
    gateway.run(8ms);
    CHECK(gateway.log.empty());
    gateway.run(2ms);
    CHECK(gateway.log == "answered c; ");
    CHECK(gateway.want() == Wanted::told);
}

TEST_CASE("the longest wait also ends while a call is on its way") {
    Asking gateway;
    gateway.message();
    CHECK(gateway.syncs() == 2);
    gateway.run(10ms);
    CHECK(gateway.log == "answered c; ");
    gateway.answer(gateway.sync_reply(5, 5));
    CHECK(gateway.client.share("c") == 5);
}

TEST_CASE("the call's own time counts as part of the wait") {
    Gateway gateway;
    gateway.join();
    (void)gateway.want();
    gateway.pass(10ms);
    gateway.answer(gateway.sync_reply(0, 5, 1));
    CHECK(gateway.log == "answered c; ");
}

TEST_CASE("a message that overtakes the reply is followed at once") {
    Gateway gateway;
    gateway.join();
    (void)gateway.want();
    gateway.client.recall("gives other c", gateway.now);
    gateway.answer(gateway.sync_reply(0, 5, 1));
    CHECK(gateway.syncs() == 2);
    CHECK(gateway.log.empty());
}

TEST_CASE("a message of a gateway that wants some itself is not followed at once") {
    Asking gateway;
    gateway.client.recall("wants other c", gateway.now);
    CHECK(gateway.syncs() == 1);
}

TEST_CASE("a gateway that has something to give follows a want at once, and the next one soon") {
    Gateway gateway;
    gateway.join();
    (void)gateway.want();
    gateway.answer(gateway.sync_reply(10, 10));
    REQUIRE(gateway.syncs() == 1);
    gateway.pass(4ms);
    gateway.client.recall("wants other c", gateway.now);
    CHECK(gateway.syncs() == 2);
    gateway.answer(gateway.sync_reply(10, 10));

    gateway.pass(1ms);
    gateway.client.recall("wants third c", gateway.now);
    CHECK(gateway.syncs() == 2);
    gateway.run(4ms);
    CHECK(gateway.syncs() == 3);
}

TEST_CASE("a refusal tells when others will have given up what they do not use") {
    Asking gateway;
    const Duration soon = 3 * (Duration{1s} / 64);
    const auto told = [&] { return gateway.request().retry_after; };
    CHECK(told() <= soon);
    CHECK(told() > soon - 1ms);

    gateway.run(70ms);
    CHECK(told() == 1s);
    (void)gateway.want();
    gateway.answer(gateway.sync_reply(0, 5, 1)); // so they use it
    CHECK(told() == 1s);

    gateway.run(500ms); // the demand has ended
    gateway.answer(gateway.sync_reply(0, 5));
    (void)gateway.want();
    gateway.answer(gateway.sync_reply(0, 5, 1));
    CHECK(told() == 1s);

    gateway.run(900ms);
    gateway.answer(gateway.sync_reply(0, 5));
    gateway.run(200ms);
    (void)gateway.want();
    gateway.answer(gateway.sync_reply(0, 5, 1));
    CHECK(told() <= soon);
}

TEST_CASE("only the first call of a demand waits: others have given up what they can") {
    Asking gateway;
    gateway.run(20ms);
    gateway.log.clear();
    gateway.pass(60ms);
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(0, 5, 1));
    CHECK(gateway.log == "answered c; ");
}

TEST_CASE("a want fails if the call that follows a message fails, or the shares are dropped") {
    SUBCASE("the call") {
        Asking gateway;
        gateway.message();
        gateway.client.failed(gateway.last("sync").number, gateway.now);
        CHECK(gateway.log == "failed c; ");
        gateway.run(20ms);
        CHECK(gateway.log == "failed c; ");
    }
    SUBCASE("the shares") {
        Asking gateway;
        gateway.client.drop_shares(gateway.now);
        CHECK(gateway.log == "failed c; ");
    }
}

} // namespace
