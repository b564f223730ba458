#include "hall.hpp"
#include "locks/lock_manager.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::locks;
using namespace stint::locks::test;

TEST_CASE("as many are inside as may be, each with a higher fence") {
    Hall hall;
    const LockPtr lock = hall.lock("product", 2);

    const auto first = hall.enter(lock, start);
    const auto second = hall.enter(lock, start);

    REQUIRE(first);
    REQUIRE(second);
    CHECK(second->fence > first->fence);
    CHECK(lock->limit()->fence() == second->fence);
    CHECK_FALSE(hall.enter(lock, start));
    CHECK(hall.leave(*lock, *first, start));
    CHECK(hall.enter(lock, start)->fence > second->fence);
}

TEST_CASE("fences begin with the milliseconds of the start, times 2048") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);

    CHECK(lock->limit()->fence() == 1'700'000'000'000 * 2048);
    CHECK(hall.enter(lock, start)->fence == 1'700'000'000'000 * 2048 + 1);
}

TEST_CASE("a lease ends when its ttl is over, and never comes back") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    const Grant grant = *hall.enter(lock, start, {.ttl = 800ms});
    CHECK(hall.alarm.next == start.steady + 800ms);

    CHECK(hall.book.renew("a", grant.id, {}, at(700ms)).has_value());
    CHECK(hall.book.expire(at(1499ms)) == start.steady + 1500ms);
    CHECK_FALSE(hall.enter(lock, at(1499ms)));
    CHECK(hall.book.expire(at(1500ms)) == SteadyTime::max());

    CHECK(hall.enter(lock, at(1500ms)).has_value());
    CHECK_FALSE(hall.book.renew("a", grant.id, {}, at(1500ms)).has_value());
    CHECK(
        hall.book.release("a", grant.id, std::nullopt, at(1500ms)).what ==
        LockManager::Release::gone);
    CHECK(hall.book.why(grant.id) == EndReason::expired);
    CHECK(hall.book.collect_metrics().back().counts.expired == 1);
}

TEST_CASE("what is over is over, also before anybody has looked") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    const Grant grant = *hall.enter(lock, start, {.ttl = 1s});

    CHECK_FALSE(hall.book.renew("a", grant.id, {}, at(1s)).has_value());
    CHECK_FALSE(hall.book.look(grant.id, at(1s)).has_value());
}

TEST_CASE("only the holder's id of that very lock releases, as often as it likes") {
    Hall hall;
    const LockPtr a = hall.lock("a", 1);
    const LockPtr b = hall.lock("b", 1);
    const Grant grant = *hall.enter(a, start);
    REQUIRE(hall.enter(b, start));

    CHECK(hall.book.release("b", grant.id, std::nullopt, start).what == LockManager::Release::gone);
    CHECK(hall.book.release("a", {1, 1}, std::nullopt, start).what == LockManager::Release::gone);
    CHECK_FALSE(hall.enter(a, start));
    CHECK(hall.leave(*a, grant, start));
    REQUIRE(hall.enter(a, start));
    CHECK(hall.leave(*a, grant, start)); // which changes nothing
    CHECK_FALSE(hall.enter(a, start));
}

TEST_CASE("the same idempotency key finds the lease while it lives") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 2);
    const Hash128 once = hall.book.hash_once("a", "anna", "1");
    CHECK(once != hall.book.hash_once("b", "anna", "1"));
    const Grant grant = *hall.enter(lock, start, {.once = once, .ttl = 10s, .connection_id = 1});

    const Grant again = *hall.enter(lock, at(1s), {.once = once, .ttl = 10s, .connection_id = 2});

    CHECK(again.id == grant.id);
    CHECK(again.fence == grant.fence);
    CHECK(again.replayed);
    CHECK(again.expires == start.steady + 11s);
    hall.book.end_for_connection(
        std::vector{grant.id}, 1, at(1s)); // the connection that it came on first
    CHECK(hall.book.look(grant.id, at(1s)).has_value());
    hall.book.end_for_connection(std::vector{grant.id}, 2, at(1s));
    CHECK_FALSE(hall.book.look(grant.id, at(1s)).has_value());
    CHECK_FALSE(hall.enter(lock, at(1s), {.once = once, .ttl = 10s})->replayed);
}

TEST_CASE("an owner who may come in again is as deep inside as he came") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    const LeaseRequest anna{.reentrant = hall.book.hash_owner("a", "anna"), .ttl = 10s};
    const Grant first = *hall.enter(lock, start, anna);

    const Grant second = *hall.enter(lock, start, anna);

    CHECK(second.id == first.id);
    CHECK(second.count == 2);
    CHECK_FALSE(hall.enter(lock, start));
    const auto release = [&](std::uint32_t level) {
        return hall.book.release("a", first.id, level, start).what;
    };
    CHECK(release(2) == LockManager::Release::inside);
    CHECK(release(2) == LockManager::Release::inside); // again: it changes nothing
    CHECK_FALSE(hall.enter(lock, start));
    CHECK(release(1) == LockManager::Release::free);
    CHECK(hall.enter(lock, start).has_value());
}

TEST_CASE("a way in that is repeated under its idempotency key is one level") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    LeaseRequest wish{.reentrant = hall.book.hash_owner("a", "anna"), .ttl = 10s};
    wish.once = {1, 1};
    REQUIRE(hall.enter(lock, start, wish));
    wish.once = {2, 2};
    CHECK(hall.enter(lock, start, wish)->count == 2);
    CHECK(hall.enter(lock, start, wish)->count == 2);
}

TEST_CASE("what a lock's max is: the configuration's, or the first caller's while it is in use") {
    Hall hall;
    hall.book.configure({{"declared", 3, 10}}, 1, 1000, start);

    CHECK(std::get<LockManager::LockError>(hall.book.obtain("declared", 5, start)).max == 3);
    CHECK(hall.lock("declared", 3)->max() == 3);
    Grant grant;
    {
        const LockPtr lock = hall.lock("made", 2);
        grant = *hall.enter(lock, start);
    }
    const auto other = std::get<LockManager::LockError>(hall.book.obtain("made", 1, start));
    CHECK(other.why == LockManager::Failure::different);
    CHECK(other.max == 2);
    CHECK(
        std::get<LockManager::LockError>(hall.book.obtain("third", 1, start)).why ==
        LockManager::Failure::too_many);
    CHECK(hall.book.end("made", grant.id, EndReason::forced, start));
    CHECK(hall.lock("third", 1, at(10ms))->max() == 1); // in the place of that one

    hall.book.configure({}, 0, 1000, start);
    CHECK(
        std::get<LockManager::LockError>(hall.book.obtain("any", 1, start)).why ==
        LockManager::Failure::unknown);
}

TEST_CASE("a lower max throws nobody out, and lets nobody in before there is room") {
    Hall hall;
    hall.book.configure({{"a", 3, 10}}, 0, 1000, start);
    const LockPtr lock = hall.lock("a", 3);
    const Grant first = *hall.enter(lock, start);
    const Grant second = *hall.enter(lock, start);
    REQUIRE(hall.enter(lock, start));

    hall.book.configure({{"a", 2, 10}}, 0, 1000, start);

    CHECK(hall.book.look(first.id, start).has_value());
    CHECK(hall.leave(*lock, first, start));
    CHECK_FALSE(hall.enter(lock, start));
    CHECK(hall.leave(*lock, second, start));
    CHECK(hall.enter(lock, start).has_value());
}

TEST_CASE("until it is known who held it before the start, a lock is full") {
    Hall hall;
    hall.book.keep_closed_until(start.steady + 5s, start);
    const LockPtr lock = hall.lock("a", 2);

    CHECK_FALSE(hall.enter(lock, start));
    CHECK(hall.book.busy(*lock, start).ends_in == 5s);
    CHECK(hall.book.state_of("a", start)->held == 2);
    hall.book.expire(at(5s));
    CHECK(hall.enter(lock, at(5s)).has_value());
    CHECK(hall.enter(hall.lock("b", 1, at(6s)), at(6s)).has_value());
}

TEST_CASE("what could not be written is nobody's") {
    Hall hall;
    hall.book.record([] {});
    const LockPtr lock = hall.lock("a", 1);
    const Grant grant = *hall.enter(lock, start);
    CHECK(hall.book.kept(grant) == LockManager::Durability::not_yet);

    hall.book.not_written(hall.book.take_records(), start);

    CHECK(hall.book.kept(grant) == LockManager::Durability::no);
    const Grant next = *hall.enter(lock, start);
    const LockManager::Records records = hall.book.take_records();
    REQUIRE(records.changes.size() == 1); // nothing has to be taken back
    CHECK(records.fence == next.fence);
    hall.book.written(records);
    CHECK(hall.book.kept(next) == LockManager::Durability::yes);
    CHECK(hall.leave(*lock, next, start));
    CHECK_FALSE(hall.book.take_records().changes.at(0).lease.has_value());
}

TEST_CASE("a longer ttl is written before it is promised") {
    Hall hall;
    hall.book.record([] {});
    const LockPtr lock = hall.lock("a", 1);
    const Grant grant = *hall.enter(lock, start);
    hall.book.written(hall.book.take_records());

    const Grant same = *hall.book.renew("a", grant.id, {.ttl = 10s}, start);
    CHECK(hall.book.kept(same) == LockManager::Durability::yes);
    CHECK(hall.book.take_records().changes.empty());

    const Grant longer = *hall.book.renew("a", grant.id, {.ttl = 20s}, start);
    CHECK(hall.book.kept(longer) == LockManager::Durability::not_yet);
    hall.book.not_written(hall.book.take_records(), start);
    CHECK(
        hall.book.kept(longer) == LockManager::Durability::no); // but it is the holder's as before
    const Grant again = *hall.book.renew("a", grant.id, {}, start);
    hall.book.written(hall.book.take_records());
    CHECK(hall.book.kept(again) == LockManager::Durability::yes);
}

TEST_CASE("those who hold and wait are to be seen") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    const Grant grant = *hall.enter(
        lock, start,
        {.owner = "anna", .ttl = 10s, .binding = LeaseBinding::connection, .connection_id = 7});
    Waiting waiting;
    hall.book.begin_wait(lock, waiting, "bert", at(1s));
    static_cast<void>(hall.lock("unused", 1));

    const auto list = hall.book.list("", at(3s)).locks;

    REQUIRE(list.size() == 1);
    CHECK(list[0].name == "a");
    CHECK(list[0].proxied == 0);
    REQUIRE(list[0].holders.size() == 1);
    CHECK(list[0].holders[0].owner == "anna");
    CHECK(list[0].holders[0].held == 3s);
    CHECK(list[0].holders[0].expires_in == 7s);
    CHECK(list[0].holders[0].fence == grant.fence);
    REQUIRE(list[0].waiters.size() == 1);
    CHECK(list[0].waiters[0].owner == "bert");
    CHECK(list[0].waiters[0].waiting == 2s);
    CHECK(hall.book.list("a", start).locks.empty());
    CHECK_FALSE(hall.book.state_of("unused", start).has_value());
}

TEST_CASE("an owner's levels end with the connections that they came on") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    LeaseRequest wish{
        .reentrant = hall.book.hash_owner("a", "anna"), .ttl = 10s, .connection_id = 1};
    const Grant grant = *hall.enter(lock, start, wish);
    wish.connection_id = 2;
    CHECK(hall.enter(lock, start, wish)->count == 2);

    hall.book.end_for_connection(std::vector{grant.id}, 2, start);
    REQUIRE(hall.book.look(grant.id, start).has_value());
    CHECK(hall.book.look(grant.id, start)->count == 1);
    CHECK(hall.book.is_bound(grant.id, 1, start));
    hall.book.end_for_connection(std::vector{grant.id}, 1, start);
    CHECK_FALSE(hall.book.look(grant.id, start).has_value());

    hall.enter(lock, start, wish);
    wish.connection_id = 1;
    const Grant inner = *hall.enter(lock, start, wish);
    hall.book.end_for_connection(std::vector{inner.id}, 2, start); // the outer one's
    CHECK(hall.book.look(inner.id, start)->count == 1);
}

TEST_CASE("who comes in again does not shorten what was promised") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    LeaseRequest wish{.reentrant = hall.book.hash_owner("a", "anna"), .ttl = 60s};
    const Grant grant = *hall.enter(lock, start, wish);
    wish.ttl = 1s;

    CHECK(hall.enter(lock, at(1s), wish)->expires == start.steady + 61s);
    CHECK(hall.book.renew("a", grant.id, {}, at(2s))->expires == start.steady + 62s);
}

TEST_CASE("a grant of which nobody heard is withdrawn, but not from a later ask") {
    Hall hall;
    const LockPtr lock = hall.lock("a", 1);
    const LeaseRequest wish{.once = {1, 1}, .ttl = 10s};
    const Grant lost = *hall.enter(lock, start, wish);
    const Grant told = *hall.enter(lock, start, wish);

    hall.book.withdraw("a", lost, start);
    CHECK(hall.book.look(told.id, start).has_value());
    hall.book.withdraw("a", told, start);
    CHECK_FALSE(hall.book.look(told.id, start).has_value());
}

namespace {

SavedLease saved(std::uint64_t fence) {
    SavedLease lease{.lock = "a", .max = 2, .id = {7, 7}, .fence = fence, .ttl = 1s};
    lease.onces.emplace_back();
    return lease;
}

} // namespace

TEST_CASE("a holder who goes on after a restart is the last one, not a late one") {
    Hall hall;
    hall.book.restore({saved(500)}, 600, start);

    CHECK(hall.lock("a", 2)->limit()->fence() == 500);
    CHECK(hall.enter(hall.lock("b", 1), start)->fence > 600);
}

TEST_CASE("where not all former holders are known, nobody comes in, whoever leaves") {
    Hall hall;
    hall.book.restore({saved(500)}, 600, start);
    hall.book.keep_closed_until(start.steady + 5s, start);
    const LockPtr lock = hall.lock("a", 2);

    CHECK(hall.book.renew("a", {7, 7}, {}, start).has_value());
    hall.book.expire(at(1s)); // it is not renewed again: somebody may have had the slot after it
    CHECK_FALSE(hall.enter(lock, at(1s)));
    hall.book.expire(at(5s));
    CHECK(hall.enter(lock, at(5s)).has_value());
}

TEST_CASE("a lock that is declared no more lives on while it is in use") {
    Hall hall;
    hall.book.configure({{"a", 1, 10}}, 0, 1000, start);
    Grant grant;
    {
        const LockPtr lock = hall.lock("a", 1);
        grant = *hall.enter(lock, start);
    }
    hall.book.configure({}, 0, 1000, start);

    CHECK(hall.book.renew("a", grant.id, {}, start).has_value());
    CHECK(hall.book.end("a", grant.id, EndReason::released, start));
    CHECK(
        std::get<LockManager::LockError>(hall.book.obtain("a", 1, start)).why ==
        LockManager::Failure::unknown);
}
