// Locks that gateways share, as the book of locks sees them: what their store counts, and reloads
// that begin or end the sharing.
#include "hall.hpp"
#include "limits/shared/share_source.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace stint;
using namespace stint::locks;
using namespace stint::locks::test;

namespace {

struct NoStore final : limits::ShareSource {
    void want(const limits::ShareWanted&, std::uint64_t, limits::ShareRequests&) noexcept override {
    }
};

LockStorePtr store_named(const std::string& name, const std::string& place = "here") {
    return std::make_shared<const LockStore>(
        LockStore{.name = name, .place = place, .terms = {.store = std::make_shared<NoStore>()}});
}

class SharedHall : public Hall {
  public:
    // The lock `jobs` with this store; null: of its own.
    LockPtr declare(const LockStorePtr& store, const Now& now) {
        limits::LimitPtr served;
        if (store != nullptr) {
            served = registry.obtain(
                {.identity =
                     {.name = "lock:jobs",
                      .key = {},
                      .algorithm = limits::Algorithm::concurrency,
                      .store = store->name},
                 .quota = 1});
            served->share_policy().reserve_without_share({});
            served->share_policy().leases().begin(1, 60s);
        }
        book.configure(
            {{.name = "jobs", .max = 1, .max_waiting = 10, .store = store}}, 100, 10, now);
        lock_ = lock("jobs", 1, now);
        return lock_;
    }
    // The store counts a slot for this gateway, and has given out these numbers and more.
    static void cover(const Lock& lock, std::uint64_t first, const Now& now) {
        (void)lock.limit()->set_share({}, {{1, 0}, SteadyTime::max() - 1ns}, now);
        leases(lock).add_fences(first, limits::LeaseCover::block);
        leases(lock).cover(1, 60s, true);
    }
    static limits::LeaseCover& leases(const Lock& lock) {
        return lock.limit()->share_policy().leases();
    }
    std::optional<Grant> enter_shared(const Now& now, Duration ttl = 10s) {
        LeaseRequest request{.ttl = ttl, .fence = *leases(*lock_).next_fence()};
        return enter(lock_, now, request);
    }

  private:
    LockPtr lock_;
};

constexpr std::uint64_t base = 4'000'000'000'000'000;

} // namespace

TEST_CASE("a shared lock is granted within its share, with the store's fencing numbers") {
    SharedHall hall;
    const LockPtr lock = hall.declare(store_named("main"), start);
    CHECK_FALSE(hall.enter(lock, start));
    SharedHall::cover(*lock, base, start);
    const auto grant = hall.enter_shared(start);
    REQUIRE(grant);
    CHECK(grant->fence == base);
    const auto state = hall.book.state_of("jobs", start);
    CHECK(state->store == "main");
    CHECK(state->share == 1);
}

TEST_CASE("a lease that the store does not count is not renewed, and ends as told") {
    SharedHall hall;
    const LockPtr lock = hall.declare(store_named("main"), start);
    SharedHall::cover(*lock, base, start);
    const auto grant = hall.enter_shared(start);
    CHECK(hall.book.renew("jobs", grant->id, {}, at(5s))->expires == at(15s).steady);
    SharedHall::leases(*lock).cover_at_most(0);
    const auto kept = hall.book.renew("jobs", grant->id, {}, at(6s));
    CHECK_FALSE(kept->renewed);
    CHECK(kept->expires == at(15s).steady);
    SharedHall::leases(*lock).cover(1, 60s, true);
    lock->limit()->share_policy().end_at(at(7s).steady);
    CHECK_FALSE(hall.book.renew("jobs", grant->id, {}, at(7s))->renewed);
}

TEST_CASE("no lease lasts for longer than the store has heard of") {
    SharedHall hall;
    const LockPtr lock = hall.declare(store_named("main"), start);
    SharedHall::cover(*lock, base, start);
    SharedHall::leases(*lock).cover(1, 20s, true);
    CHECK(hall.enter_shared(start, 50s)->expires == at(20s).steady);
}

TEST_CASE("leases of a shared lock are not persisted") {
    SharedHall hall;
    hall.book.record([] {});
    const LockPtr lock = hall.declare(store_named("main"), start);
    SharedHall::cover(*lock, base, start);
    const auto grant = hall.enter_shared(start);
    CHECK(hall.book.kept(*grant) == LockManager::Durability::yes);
    CHECK(hall.book.everything().changes.empty());
    CHECK(hall.book.everything().fence == base);
}

TEST_CASE("a lock that is shared from now on keeps its leases, and reports them") {
    SharedHall hall;
    const LockPtr own = hall.declare(nullptr, start);
    const auto grant = hall.enter(own, start);
    const LockPtr shared = hall.declare(store_named("main"), at(1s));
    CHECK(own->replaced());
    CHECK(own->limit()->in_flight() == 0);
    CHECK(shared->limit()->in_flight() == 1);
    CHECK(shared->limit()->fence() >= grant->fence);
    CHECK(SharedHall::leases(*shared).take_report() == 1);
    CHECK_FALSE(hall.book.renew("jobs", grant->id, {}, at(2s))->renewed);
    SharedHall::leases(*shared).cover(1, 60s, true);
    CHECK(hall.book.renew("jobs", grant->id, {}, at(2s))->renewed);
    CHECK(hall.leave(*shared, *grant, at(3s)));
    CHECK(shared->limit()->in_flight() == 0);
}

TEST_CASE("a lock that is shared no more is granted to nobody while others' leases can live") {
    for (const bool elsewhere : {false, true}) {
        SharedHall hall;
        const LockPtr shared = hall.declare(store_named("main"), start);
        SharedHall::cover(*shared, base, start);
        const auto grant = hall.enter_shared(start, 20s);
        SharedHall::leases(*shared).note_fence(base + 1000); // another gateway's
        const LockPtr next =
            hall.declare(elsewhere ? store_named("other", "there") : nullptr, at(10s));
        if (elsewhere)
            SharedHall::cover(*next, base + 5000, at(10s));
        CHECK(hall.book.renew("jobs", grant->id, {.ttl = 60s}, at(15s))->expires == at(70s).steady);
        CHECK_FALSE(hall.enter(next, at(69s)));
        (void)hall.book.expire(at(70s));
        const auto later = hall.enter(next, at(70s));
        REQUIRE(later);
        CHECK(later->fence > base + 1000);
    }
}

TEST_CASE("so it is with a lock that is not declared any more") {
    SharedHall hall;
    const LockPtr shared = hall.declare(store_named("main"), start);
    hall.book.configure({}, 100, 10, start);
    const LockPtr own = hall.lock("jobs", 1, at(1s));
    CHECK(own != shared);
    CHECK_FALSE(hall.enter(own, at(59s)));
    (void)hall.book.expire(at(60s));
    CHECK(hall.enter(own, at(60s)));
}

TEST_CASE("a lock that is shared no more grants later numbers than others can have got by then") {
    SharedHall hall;
    const LockPtr shared = hall.declare(store_named("main"), start);
    const Now later = at(std::chrono::hours{1});
    const LockPtr own = hall.declare(nullptr, later);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
        (later.wall + 60s).time_since_epoch());
    CHECK(own->limit()->fence() >= static_cast<std::uint64_t>(ms.count()) * 2048);
}

TEST_CASE("a lock that a reload has replaced grants nothing, and frees the slot") {
    SharedHall hall;
    const LockPtr own = hall.declare(nullptr, start);
    const limits::Charge slot = own->charge();
    limits::Permit taken = std::move(limits::try_admit({&slot, 1}, start).permit);
    (void)hall.declare(store_named("main"), start);
    CHECK_FALSE(hall.book.grant(own, {.ttl = 10s}, std::move(taken), start));
    CHECK(own->limit()->in_flight() == 0);
}

TEST_CASE("a store with other settings in the same place needs no pause") {
    SharedHall hall;
    const LockPtr shared = hall.declare(store_named("main"), start);
    SharedHall::cover(*shared, base, start);
    const auto grant = hall.enter_shared(start, 20s);
    const LockPtr next = hall.declare(store_named("main"), at(1s));
    CHECK(next != shared);
    CHECK(next->limit() == shared->limit());
    CHECK(next->limit()->in_flight() == 1);
    CHECK(hall.leave(*next, *grant, at(2s)));
    CHECK(hall.enter_shared(at(2s)));
}
