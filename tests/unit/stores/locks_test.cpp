// Fencing numbers of a lock over several gateways, on a real server that loses what it knows.
#include "fixture.hpp"

#include <optional>

using namespace stint;
using namespace stint::stores;
using namespace stint::stores::test;

namespace {

const Terms mutex_terms{
    .name = "lock:jobs", .algorithm = limits::Algorithm::concurrency, .number = 1};

struct LockGateway : Gateway {
    explicit LockGateway(const StoreSettings& with) : Gateway{with, mutex_terms} {
        leases().begin(1, 100ms);
    }
    [[nodiscard]] limits::LeaseCover& leases() { return client.limit()->share_policy().leases(); }
    // Grants a lease as the book of locks does, and releases it; returns its fencing number.
    std::uint64_t grant() {
        std::optional<std::uint64_t> fence;
        const auto granted = [&] {
            const limits::Decision decision = client.request(net::read_clocks());
            if (decision.allowed() && leases().covers(1))
                fence = leases().next_fence();
            if (decision.allowed() && !fence && !client.ask().waits())
                client.want();
            return fence.has_value();
        };
        await(granted, "the lock is not granted");
        return *fence;
    }
};

} // namespace

TEST_CASE("a lock's fencing numbers rise over gateways, also if the server forgets everything") {
    if (no_server())
        return;
    RedisProcess server;
    LockGateway first{settings(server, "a")};
    LockGateway second{settings(server, "b")};
    first.await_session(shared::SessionState::active);
    second.await_session(shared::SessionState::active);
    std::uint64_t highest = 0;
    const auto check_rise = [&] {
        for (LockGateway* const each : {&first, &second, &second, &first}) {
            const std::uint64_t fence = each->grant();
            CHECK(fence > highest);
            highest = std::max(highest, fence);
        }
    };
    check_rise();
    CHECK(ask(server, "FLUSHALL") == "OK\n");
    check_rise();
    server.kill();
    await([&] { return !first.store.state().up; }, "the end of the server is not noticed");
    server.start();
    check_rise();
    for (int i = 0; i < 600; ++i) { // more than two blocks
        const std::uint64_t fence = first.grant();
        CHECK(fence > highest);
        highest = fence;
    }
    check_rise();
    CHECK(first.leases().highest_fence() >= highest);
    CHECK(highest < std::uint64_t{1} << 53U);
}

TEST_CASE("no number that a gateway brings makes fencing numbers useless") {
    if (no_server())
        return;
    RedisProcess server;
    LockGateway first{settings(server, "a")};
    first.client.limit()->raise_fence((std::uint64_t{1} << 53U) - 1); // of a broken file
    first.await_session(shared::SessionState::active);
    CHECK(first.grant() < std::uint64_t{1} << 52U);
    const std::uint64_t now_by_clock = first.grant();
    LockGateway second{settings(server, "b")};
    second.client.limit()->raise_fence(now_by_clock + 1'000'000'000);
    second.await_session(shared::SessionState::active);
    CHECK(second.grant() > now_by_clock + 1'000'000'000);
    CHECK(first.grant() > now_by_clock + 1'000'000'000);
}
