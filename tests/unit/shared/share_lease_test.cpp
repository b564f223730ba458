// What a gateway may do with a lock that gateways share: leases that the store counts, and fencing
// numbers that it has given out.
#include "fixture.hpp"

using namespace stint;
using namespace stint::shared;
using namespace stint::shared::test;

namespace {

struct LockGateway : Gateway {
    LockGateway() {
        limits::LimitSpec spec;
        spec.identity = {
            .name = "lock:jobs", .key = {}, .algorithm = limits::Algorithm::concurrency};
        spec.quota = 1;
        limit = std::make_shared<limits::Limit>(spec);
        limit->share_policy().reserve_without_share({});
        leases().begin(1, 60s);
    }
    [[nodiscard]] limits::LeaseCover& leases() const { return limit->share_policy().leases(); }
    Wanted want() { return client.want("c", {.limit = limit, .numbers = {1, 0}}, 1, now); }
    [[nodiscard]] std::string argument(std::size_t at) const {
        return last("sync").arguments.at(at);
    }
    // A reply with a block of fencing numbers, if first > 0.
    [[nodiscard]] Reply lock_reply(
        std::int64_t grant,
        std::int64_t first = 0,
        std::int64_t held_by_others = 0,
        std::int64_t highest = 0) const {
        Reply reply = sync_reply(grant, grant);
        reply[6] = held_by_others;
        reply[7] = std::int64_t{1};
        reply.emplace_back(first);
        reply.emplace_back(std::int64_t{first > 0 ? 256 : 0});
        reply.emplace_back(std::max(highest, first > 0 ? first + 255 : 0));
        reply.emplace_back(std::int64_t{60'000});
        return reply;
    }
    limits::Permit take() {
        const limits::Charge slot{.limit = limit.get(), .quota = 1};
        return std::move(limits::try_admit({&slot, 1}, now).permit);
    }
};

constexpr std::size_t span_at = 12;
constexpr std::size_t fence_at = 17;
constexpr std::size_t block_at = 18;
constexpr std::size_t wall_at = 19;

} // namespace

TEST_CASE("a lock's counter tells the longest lease and the highest fencing number") {
    LockGateway gateway;
    gateway.limit->raise_fence(7);
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.argument(span_at) == "60000");
    CHECK(gateway.argument(fence_at) == "7");
    CHECK(gateway.argument(block_at) == "1");
    CHECK(gateway.argument(wall_at) == std::to_string(gateway.now.wall.time_since_epoch() / 1ms));
    gateway.answer(gateway.lock_reply(1, 1000));
    CHECK(gateway.leases().next_fence() == 1000);
    CHECK(gateway.leases().next_fence() == 1001);
    CHECK(gateway.leases().highest_fence() == 1255);
    CHECK(gateway.leases().longest_lease() == 60s);
    CHECK(gateway.leases().covers(1));
    CHECK_FALSE(gateway.leases().covers(2));
}

TEST_CASE("a block is asked for while more than a third of the former one is left") {
    LockGateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.lock_reply(1, 1000));
    for (int i = 0; i < 128; ++i)
        (void)gateway.leases().next_fence();
    CHECK_FALSE(gateway.leases().take_turn_to_ask());
    CHECK(gateway.want() == Wanted::told); // there is nothing to ask for
    (void)gateway.leases().next_fence();
    CHECK(gateway.leases().take_turn_to_ask());
    CHECK_FALSE(gateway.leases().take_turn_to_ask());
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.argument(block_at) == "1");
    gateway.answer(gateway.lock_reply(1, 5000));
    CHECK(gateway.leases().next_fence() == 5000);
}

TEST_CASE("leases from before a lock was shared are told, also if its counter is known") {
    LockGateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.hold() == "0");
    gateway.answer(gateway.lock_reply(0, 0, 1)); // a request had come first
    const limits::Charge slot{.limit = gateway.limit.get(), .quota = 1, .ignore_share = true};
    const limits::Permit leased = std::move(limits::try_admit({&slot, 1}, gateway.now).permit);
    REQUIRE(leased.holds_slots());
    gateway.leases().report(1);
    gateway.pass(2s);
    (void)gateway.want();
    gateway.run(2s);
    CHECK(gateway.hold() == "1");
    CHECK_FALSE(gateway.leases().has_report());
}

TEST_CASE("leases that are reported while a call is on its way are told right after its reply") {
    LockGateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    const limits::Charge slot{.limit = gateway.limit.get(), .quota = 1, .ignore_share = true};
    const limits::Permit leased = std::move(limits::try_admit({&slot, 1}, gateway.now).permit);
    REQUIRE(leased.holds_slots());
    gateway.leases().report(1);
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.hold() == "0");
    CHECK(gateway.syncs() == 1);
    gateway.answer(gateway.lock_reply(0, 0, 1)); // of a store that does not know of it
    CHECK(gateway.syncs() == 2);
    CHECK(gateway.hold() == "1");
    CHECK_FALSE(gateway.leases().has_report());
}

TEST_CASE("a slot that is given up takes its fencing numbers along") {
    LockGateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.lock_reply(1, 1000));
    const limits::Permit held = gateway.take();
    CHECK(held.holds_slots());
    gateway.pass(10ms);
    gateway.client.recall("wants other c", gateway.now);
    Reply others = gateway.lock_reply(1);
    others[4] = std::int64_t{0}; // its part
    others[5] = std::int64_t{1}; // another one lacks it
    gateway.answer(others);
    CHECK(gateway.hold() == "1"); // in use
    CHECK(gateway.client.share("c") == 0);
    CHECK(gateway.leases().covers(1)); // so it may be renewed
    others[3] = std::int64_t{1};
    gateway.answer(others);
    const_cast<limits::Permit&>(held).release(gateway.now);
    gateway.run(10ms);
    CHECK(gateway.hold() == "0");
    CHECK_FALSE(gateway.leases().covers(1));
    CHECK_FALSE(gateway.leases().next_fence().has_value());
}

TEST_CASE("a lease of a session that was lost is not renewed while others hold the lock") {
    for (const bool others : {true, false}) {
        LockGateway gateway;
        gateway.join();
        CHECK(gateway.want() == Wanted::asked);
        gateway.answer(gateway.lock_reply(1, 1000));
        const limits::Permit held = gateway.take();
        gateway.pass(21s); // two thirds of 30 s are over
        gateway.client.tick(gateway.now);
        Reply beat = gateway.beat_reply();
        beat[2] = std::string{"2-1"};
        gateway.answer("beat", beat);
        CHECK_FALSE(gateway.leases().covers(1));
        CHECK_FALSE(gateway.leases().next_fence().has_value());
        gateway.client.tick(gateway.now);
        CHECK(gateway.hold() == "1");
        Reply reply = gateway.lock_reply(1, 0, others ? 1 : 0);
        reply[2] = std::string{"2-1"};
        gateway.answer(reply);
        CHECK(gateway.leases().covers(1) == !others);
    }
}

TEST_CASE("after the longest lease a lost session's slot is no more in use") {
    LockGateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.lock_reply(1, 1000));
    const limits::Permit held = gateway.take(); // whose end nobody has noted yet
    gateway.pass(81s);
    gateway.client.tick(gateway.now);
    Reply beat = gateway.beat_reply();
    beat[2] = std::string{"2-1"};
    gateway.answer("beat", beat);
    gateway.answer(
        {std::string{"epoch"}, std::int64_t{1000}, std::string{"2-1"}}); // to an old call
    gateway.run(1s);
    CHECK(gateway.hold() == "0");
}

TEST_CASE("leases from before the lock was shared are reported with the first call") {
    LockGateway gateway;
    const limits::Charge slot{.limit = gateway.limit.get(), .quota = 1, .ignore_share = true};
    const limits::Decision held = limits::try_admit({&slot, 1}, gateway.now);
    gateway.leases().report(1);
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.hold() == "1");
    CHECK_FALSE(gateway.leases().covers(1));
    gateway.answer(gateway.lock_reply(1));
    CHECK(gateway.leases().covers(1));
}

TEST_CASE("the longest lease of any gateway counts") {
    LockGateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    Reply reply = gateway.lock_reply(1, 1000);
    reply.back() = std::int64_t{90'000};
    gateway.answer(reply);
    CHECK(gateway.leases().span() == 90s);
    CHECK(gateway.leases().longest_lease() == 60s);
}

TEST_CASE("the store is asked for a lock four times a second, as long as it is wanted") {
    LockGateway gateway;
    gateway.join();
    for (int i = 0; i < 10; ++i) {
        CHECK(gateway.want() == Wanted::asked);
        gateway.answer(gateway.lock_reply(0));
        CHECK(gateway.want() == Wanted::told);
        gateway.pass(250ms);
    }
}
