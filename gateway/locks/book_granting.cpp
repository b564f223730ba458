// Getting a lease, staying, and leaving.
#include "base/bytes.hpp"
#include "locks/book.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

namespace stint::locks {
namespace {

// An owner who is that deep inside does not get deeper.
constexpr std::size_t most_levels = 1000;

Hash128 hash_of(
    const KeyHasher& hasher,
    char kind,
    std::string_view lock,
    std::string_view owner,
    std::string_view key) {
    std::string text;
    put(text, kind);
    put_text(text, lock);
    put_text(text, owner);
    put_text(text, key);
    return hasher(text);
}

} // namespace

Hash128 Book::hash_once(std::string_view lock, std::string_view owner, std::string_view key) const {
    return hash_of(registry_.hasher(), 'k', lock, owner, key);
}

Hash128 Book::hash_owner(std::string_view lock, std::string_view owner) const {
    return hash_of(registry_.hasher(), 'o', lock, owner, {});
}

std::optional<Grant> Book::find_living(const Wish& wish, const Now& now) {
    if (wish.once == Hash128{} && wish.reentrant == Hash128{})
        return std::nullopt;
    const std::lock_guard lock{mutex_};
    return reenter(wish, now);
}

Lease* Book::living_known(Hash128 hash, const Now& now) noexcept {
    const auto found = known_.find(hash);
    return found != known_.end() && found->second->expires > now.steady ? found->second : nullptr;
}

std::optional<Grant> Book::reenter(const Wish& wish, const Now& now) {
    Lease* const same = living_known(wish.once, now);
    Lease* const lease = same != nullptr ? same : living_known(wish.reentrant, now);
    if (lease == nullptr || (same == nullptr && lease->levels.size() >= most_levels))
        return std::nullopt;
    if (same == nullptr)
        enter(*lease, wish);
    for (Level& level : lease->levels)
        if (same != nullptr && level.once == wish.once)
            level.tie = wish.tie;
    if (same != nullptr && lease->levels.size() == 1)
        lease->hold = wish.hold;
    // Never sooner than whoever is inside already was told.
    renew(*lease, std::max(wish.ttl, lease->ttl), now);
    ++lease->asks;
    Grant grant = grant_of(*lease);
    grant.replayed = same != nullptr;
    return grant;
}

void Book::enter(Lease& lease, const Wish& wish) {
    lease.levels.push_back({wish.once, wish.tie});
    try {
        if (wish.once != Hash128{})
            known_.insert_or_assign(wish.once, &lease);
        record_grant(lease);
    } catch (...) {
        forget(wish.once, lease);
        lease.levels.pop_back();
        throw;
    }
    ++lease.lock->counts_.granted;
}

// Until only so many levels are left, at least one.
void Book::leave(Lease& lease, std::size_t levels) noexcept try {
    while (lease.levels.size() > levels) {
        forget(lease.levels.back().once, lease);
        lease.levels.pop_back();
    }
    record_grant(lease);
} catch (const std::exception&) { // then a restart finds him deeper inside, for the ttl
}

Grant Book::grant(const LockPtr& lock, Wish wish, limits::Permit permit, const Now& now) {
    const std::lock_guard guard{mutex_};
    if (const auto living = reenter(wish, now)) // which it was not when the slot was asked for
        return *living;
    auto made = std::make_unique<Lease>();
    made->levels.push_back({wish.once, wish.tie});
    made->owner = std::move(wish.owner);
    made->reentrant = wish.reentrant;
    made->ttl = wish.ttl;
    made->hold = wish.hold;
    made->since = now.wall;
    made->permit = std::move(permit);
    made->fence = fence_ + 1;
    Lease& lease = insert(std::move(made), lock, now, now.steady + wish.ttl);
    ++lock->counts_.granted;
    try {
        know(lease);
        record_grant(lease);
    } catch (...) {
        permit = std::move(lease.permit); // is freed when the mutex is not held any more
        static_cast<void>(take_out(lease, End::unkept));
        throw;
    }
    ++fence_;
    lock->limit()->raise_fence(lease.fence);
    return grant_of(lease);
}

void Book::know(Lease& lease) {
    for (const Level& level : lease.levels)
        if (level.once != Hash128{})
            known_.insert_or_assign(level.once, &lease);
    if (lease.reentrant != Hash128{})
        known_.insert_or_assign(lease.reentrant, &lease);
}

Grant Book::grant_of(const Lease& lease) {
    return {
        .id = lease.id,
        .fence = lease.fence,
        .max = lease.lock->max(),
        .count = static_cast<std::uint32_t>(lease.levels.size()),
        .expires = lease.expires,
        .version = lease.version,
        .ask = lease.asks};
}

void Book::renew(Lease& lease, Duration ttl, const Now& now) {
    lease.ttl = ttl;
    const bool lost = lease.unwritten == 0 && lease.version != lease.kept_version;
    if (lost || ttl > lease.recorded_ttl)
        record_grant(lease);
    by_expiry_.erase(by_expiry_.iterator_to(lease));
    lease.expires = now.steady + ttl;
    file(lease);
}

std::optional<Grant>
Book::renew(std::string_view lock, Hash128 id, const Renewal& renewal, const Now& now) {
    const std::lock_guard guard{mutex_};
    Lease* const lease = living_of(lock, id, now);
    if (lease == nullptr)
        return std::nullopt;
    renew(*lease, renewal.ttl.value_or(lease->ttl), now);
    if (renewal.tie != 0) {
        for (Level& level : lease->levels)
            level.tie = renewal.tie;
        lease->hold = Hold::connection;
    }
    return grant_of(*lease);
}

Book::Released Book::release(
    std::string_view lock, Hash128 id, std::optional<std::uint32_t> level, const Now& now) {
    std::unique_ptr<Lease> ended;
    {
        const std::lock_guard guard{mutex_};
        Lease* const lease = living_of(lock, id, now);
        if (lease == nullptr) {
            const auto known = ended_.find(id);
            const bool released = known != ended_.end() && known->second == End::released;
            return {released ? Release::free : Release::gone, {}};
        }
        const std::size_t inside = lease->levels.size();
        const std::size_t left = std::min<std::size_t>(inside, level.value_or(inside) - 1);
        if (left > 0) {
            if (left < inside)
                leave(*lease, left);
            return {Release::inside, grant_of(*lease)};
        }
        ended = take_out(*lease, End::released);
    }
    free_slot(std::move(ended), now);
    return {Release::free, {}};
}

void Book::withdraw(std::string_view lock, const Grant& grant, const Now& now) noexcept {
    std::unique_ptr<Lease> ended;
    {
        const std::lock_guard guard{mutex_};
        Lease* const lease = living_of(lock, grant.id, now);
        if (lease == nullptr || lease->asks != grant.ask)
            return;
        if (grant.count > 1)
            return leave(*lease, grant.count - 1);
        ended = take_out(*lease, End::disconnected);
    }
    free_slot(std::move(ended), now);
}

bool Book::end(std::string_view lock, Hash128 id, End how, const Now& now) {
    std::unique_ptr<Lease> ended;
    {
        const std::lock_guard guard{mutex_};
        Lease* const lease = living_of(lock, id, now);
        if (lease == nullptr)
            return false;
        ended = take_out(*lease, how);
    }
    free_slot(std::move(ended), now);
    return true;
}

void Book::end_tied(std::span<const Hash128> ids, std::uint64_t tie, const Now& now) {
    for (const Hash128 id : ids) {
        std::unique_ptr<Lease> ended;
        {
            const std::lock_guard guard{mutex_};
            Lease* const lease = living(id, now);
            if (lease == nullptr)
                continue;
            const auto is_tied = [tie](const Level& level) { return level.tie == tie; };
            const auto ending = std::ranges::stable_partition(lease->levels, std::not_fn(is_tied));
            if (ending.empty())
                continue;
            const std::size_t left = lease->levels.size() - ending.size();
            if (left > 0) {
                leave(*lease, left);
                continue;
            }
            ended = take_out(*lease, End::disconnected);
        }
        free_slot(std::move(ended), now);
    }
}

void Book::untie(std::span<const Hash128> ids, std::uint64_t tie) noexcept {
    const std::lock_guard guard{mutex_};
    for (const Hash128 id : ids)
        if (const auto found = leases_.find(id); found != leases_.end())
            for (Level& level : found->second->levels)
                if (level.tie == tie)
                    level.tie = 0;
}

bool Book::is_tied(Hash128 id, std::uint64_t tie, const Now& now) const {
    const std::lock_guard guard{mutex_};
    const Lease* const lease = living(id, now);
    return lease != nullptr &&
           std::ranges::any_of(lease->levels, [tie](const Level& each) { return each.tie == tie; });
}

std::optional<Grant> Book::look(Hash128 id, const Now& now) const {
    const std::lock_guard guard{mutex_};
    const Lease* const lease = living(id, now);
    return lease != nullptr ? std::optional{grant_of(*lease)} : std::nullopt;
}

std::optional<End> Book::why(Hash128 id) const {
    const std::lock_guard guard{mutex_};
    const auto found = ended_.find(id);
    return found != ended_.end() ? std::optional{found->second} : std::nullopt;
}

} // namespace stint::locks
