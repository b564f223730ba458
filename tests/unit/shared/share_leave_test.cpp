// The end of a gateway's session, by its own will or not.
#include "fixture.hpp"

using namespace stint;
using namespace stint::shared;
using namespace stint::shared::test;

namespace {

// A gateway with a share of 10, of which 3 are used.
struct Holder : Gateway {
    Holder() {
        join();
        CHECK(want() == Wanted::asked);
        answer(sync_reply(10, 10));
        for (int i = 0; i < 3; ++i)
            CHECK(request().allowed());
    }
};

} // namespace

TEST_CASE("a gateway that leaves gives up what is not in use, then ends its session") {
    Holder gateway;
    CHECK_FALSE(gateway.client.leave(gateway.now));
    gateway.client.tick(gateway.now);
    CHECK(gateway.hold() == "3");
    CHECK(gateway.wants() == "0");
    CHECK_FALSE(gateway.request().allowed());
    CHECK(gateway.want() == Wanted::failed);
    CHECK_FALSE(gateway.client.leave(gateway.now)); // the store does not know yet
    gateway.answer(gateway.sync_reply(3, 3));
    CHECK_FALSE(gateway.request().allowed()); // the 3 are for what was used
    gateway.pass(1100ms);
    CHECK_FALSE(gateway.request().allowed()); // no longer used
    CHECK_FALSE(gateway.client.leave(gateway.now));
    gateway.answer("leave", {std::string{"ok"}, std::int64_t{1000}, std::string{"1-1"}});
    CHECK(gateway.client.leave(gateway.now));
}

TEST_CASE("a gateway that leaves keeps of a bucket what is owed, and pays that off as slowly") {
    Gateway gateway;
    gateway.limit = Gateway::make_limit(limits::Algorithm::token_bucket, 10s);
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(10, 10));
    for (int i = 0; i < 3; ++i)
        CHECK(gateway.request().allowed());
    CHECK_FALSE(gateway.client.leave(gateway.now));
    gateway.client.tick(gateway.now);
    CHECK(gateway.hold() == "3");
    for (const auto* const left : {"3", "2"}) { // a whole bucket would have paid all off by then
        gateway.client.failed(gateway.last("sync").number, gateway.now);
        gateway.pass(3s);
        gateway.client.tick(gateway.now);
        CHECK(gateway.hold() == left);
    }
    CHECK_FALSE(gateway.request().allowed());
}

TEST_CASE("a gateway that leaves while a call is on its way gives up what that brings") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    CHECK_FALSE(gateway.client.leave(gateway.now));
    gateway.client.tick(gateway.now);
    CHECK(gateway.syncs() == 1);
    Reply reply = gateway.sync_reply(4, 3);
    SUBCASE("") {}
    SUBCASE("others lack some") {
        reply[5] = std::int64_t{1};
    }
    gateway.answer(reply);
    CHECK(gateway.syncs() == 2); // at once
    CHECK(gateway.hold() == "0");
    CHECK(gateway.wants() == "0");
    CHECK_FALSE(gateway.client.leave(gateway.now));
    CHECK(gateway.count("leave") == 0);
    gateway.answer(gateway.sync_reply(0, 0));
    CHECK_FALSE(gateway.client.leave(gateway.now));
    CHECK(gateway.count("leave") == 1);
}

TEST_CASE("a gateway whose last call is lost, or is of another epoch, makes it again") {
    Holder gateway;
    CHECK_FALSE(gateway.client.leave(gateway.now));
    gateway.client.tick(gateway.now);
    gateway.answer(gateway.sync_reply(3, 3));
    CHECK_FALSE(gateway.client.leave(gateway.now));
    gateway.client.failed(gateway.last("leave").number, gateway.now);
    CHECK_FALSE(gateway.client.leave(gateway.now)); // a little later
    CHECK(gateway.count("leave") == 1);
    gateway.pass(50ms);
    CHECK_FALSE(gateway.client.leave(gateway.now));
    CHECK(gateway.count("leave") == 2);
    gateway.answer("leave", {std::string{"epoch"}, std::int64_t{1000}, std::string{"2-2"}});
    gateway.pass(50ms);
    CHECK_FALSE(gateway.client.leave(gateway.now));
    CHECK(gateway.count("leave") == 3);
    gateway.answer("leave", {std::string{"unknown"}, std::int64_t{1000}, std::string{"2-2"}});
    CHECK(gateway.client.leave(gateway.now));
}

TEST_CASE("a gateway without a session leaves at once") {
    Gateway gateway;
    CHECK(gateway.client.leave(gateway.now));
    CHECK(gateway.calls.empty());
    Gateway taken;
    taken.client.tick(taken.now);
    taken.answer("beat", taken.beat_reply("taken"));
    CHECK(taken.client.leave(taken.now));
}

TEST_CASE("a new session holds nothing, and fails the wants of the former one") {
    Holder gateway;
    CHECK(gateway.want() == Wanted::told); // it has all
    gateway.run(600ms);                    // the store is told of less demand
    REQUIRE(gateway.syncs() == 2);
    CHECK(gateway.want() == Wanted::asked);
    gateway.log.clear();
    gateway.client.begin(
        {.gateway = "gw", .session = "t", .time_to_live = 30s, .timeout = 1s}, gateway.now);
    CHECK(gateway.log == "failed c; ");
    CHECK(gateway.client.counters() == 0);
    CHECK(gateway.client.session().state() == SessionState::unknown);
    CHECK_FALSE(gateway.request().allowed());
    gateway.join();
    CHECK_FALSE(gateway.request().allowed()); // the former share does not come back
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.hold() == "0");
}

TEST_CASE("shares are dropped without a word") {
    Holder gateway;
    const std::size_t before = gateway.calls.size();
    gateway.client.drop_shares(gateway.now);
    CHECK(gateway.calls.size() == before);
    CHECK_FALSE(gateway.request().allowed());
}

TEST_CASE("a session tells since when the store owes an answer to a beat") {
    Gateway gateway;
    CHECK_FALSE(gateway.client.session().unanswered_since());
    gateway.client.tick(gateway.now);
    const SteadyTime first = gateway.now.steady;
    CHECK(gateway.client.session().unanswered_since() == first);
    const std::uint64_t former = gateway.last("beat").number;
    gateway.pass(999ms);
    gateway.client.tick(gateway.now);
    gateway.pass(1ms);
    gateway.client.tick(gateway.now);
    CHECK(gateway.client.session().unanswered_since() == first);
    gateway.answer("beat", gateway.beat_reply());
    CHECK_FALSE(gateway.client.session().unanswered_since());
    gateway.client.answered(former, gateway.beat_reply(), gateway.now); // late
    CHECK_FALSE(gateway.client.session().unanswered_since());
}
