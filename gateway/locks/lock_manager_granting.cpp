// Granting, renewing and releasing leases.
#include "base/bytes.hpp"
#include "locks/leases.hpp"
#include "locks/lock_manager.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

namespace stint::locks {
namespace {

// The most levels of a reentrant owner.
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

Hash128
LockManager::hash_once(std::string_view lock, std::string_view owner, std::string_view key) const {
    return hash_of(registry_.hasher(), 'k', lock, owner, key);
}

Hash128 LockManager::hash_owner(std::string_view lock, std::string_view owner) const {
    return hash_of(registry_.hasher(), 'o', lock, owner, {});
}

std::optional<Grant> LockManager::find_granted(const LeaseRequest& request, const Now& now) {
    if (request.once == Hash128{} && request.reentrant == Hash128{})
        return std::nullopt;
    const std::lock_guard lock{mutex_};
    return reenter(request, now);
}

Lease* LockManager::find_active_known(Hash128 hash, const Now& now) noexcept {
    const auto found = known_.find(hash);
    return found != known_.end() && found->second->expires > now.steady ? found->second : nullptr;
}

std::optional<Grant> LockManager::reenter(const LeaseRequest& request, const Now& now) {
    Lease* const same = find_active_known(request.once, now);
    Lease* const lease = same != nullptr ? same : find_active_known(request.reentrant, now);
    if (lease == nullptr || (same == nullptr && lease->levels.size() >= most_levels))
        return std::nullopt;
    if (same == nullptr)
        enter(*lease, request);
    for (Level& level : lease->levels)
        if (same != nullptr && level.once == request.once)
            level.connection_id = request.connection_id;
    if (same != nullptr && lease->levels.size() == 1)
        lease->binding = request.binding;
    // The lease never ends sooner than an earlier answer has told its holder.
    (void)renew(*lease, std::max(request.ttl, lease->ttl), now);
    ++lease->asks;
    Grant grant = grant_of(*lease);
    grant.replayed = same != nullptr;
    return grant;
}

void LockManager::enter(Lease& lease, const LeaseRequest& request) {
    lease.levels.push_back({request.once, request.connection_id});
    try {
        if (request.once != Hash128{})
            known_.insert_or_assign(request.once, &lease);
        record_grant(lease);
    } catch (...) {
        forget(request.once, lease);
        lease.levels.pop_back();
        throw;
    }
    ++lease.lock->counts_.granted;
}

// Drops the deepest levels until `levels` are left, at least one.
void LockManager::leave(Lease& lease, std::size_t levels) noexcept try {
    while (lease.levels.size() > levels) {
        forget(lease.levels.back().once, lease);
        lease.levels.pop_back();
    }
    record_grant(lease);
} catch (const std::exception&) { // without memory, a restart restores the deeper levels
}

std::optional<Grant> LockManager::grant(
    const LockPtr& lock, const LeaseRequest& request, limits::Permit permit, const Now& now) {
    const std::lock_guard guard{mutex_};
    // The same caller's other request may have been granted since find_granted().
    if (const auto active = reenter(request, now))
        return *active;
    if (lock->replaced())
        return std::nullopt; // its leases were moved, or are told an end
    auto made = std::make_unique<Lease>();
    made->levels.push_back({request.once, request.connection_id});
    made->owner = request.owner;
    made->reentrant = request.reentrant;
    made->ttl = request.ttl;
    made->binding = request.binding;
    made->since = now.wall;
    made->permit = std::move(permit);
    made->fence = request.fence > 0 ? request.fence : fence_ + 1;
    const Duration lasts = std::min(request.ttl, longest_lease(*lock, now));
    Lease& lease = insert(std::move(made), lock, now, now.steady + lasts);
    ++lock->counts_.granted;
    try {
        know(lease);
        record_grant(lease);
    } catch (...) {
        permit = std::move(lease.permit); // the slot is freed when the mutex is no longer held
        static_cast<void>(take_out(lease, EndReason::not_persisted));
        throw;
    }
    fence_ = std::max(fence_, lease.fence);
    lock->limit()->raise_fence(lease.fence);
    return grant_of(lease);
}

void LockManager::know(Lease& lease) {
    for (const Level& level : lease.levels)
        if (level.once != Hash128{})
            known_.insert_or_assign(level.once, &lease);
    if (lease.reentrant != Hash128{})
        known_.insert_or_assign(lease.reentrant, &lease);
}

Grant grant_of(const Lease& lease) {
    return {
        .id = lease.id,
        .fence = lease.fence,
        .max = lease.lock->max(),
        .count = static_cast<std::uint32_t>(lease.levels.size()),
        .expires = lease.expires,
        .version = lease.version,
        .ask = lease.asks};
}

// False: the lease ends as it would have.
bool LockManager::renew(Lease& lease, Duration ttl, const Now& now) {
    const Lock& lock = *lease.lock;
    const Duration most = std::min(longest_lease(lock, now), lock.ends_ - now.steady);
    if (most <= Duration::zero())
        return false;
    lease.ttl = ttl;
    const bool lost = lease.unwritten == 0 && lease.version != lease.kept_version;
    if (lost || ttl > lease.recorded_ttl)
        record_grant(lease);
    by_expiry_.erase(by_expiry_.iterator_to(lease));
    lease.expires = now.steady + std::min(ttl, most);
    file(lease);
    return true;
}

std::optional<Grant>
LockManager::renew(std::string_view lock, Hash128 id, const Renewal& renewal, const Now& now) {
    const std::lock_guard guard{mutex_};
    Lease* const lease = find_active_of(lock, id, now);
    if (lease == nullptr)
        return std::nullopt;
    const bool renewed = renew(*lease, renewal.ttl.value_or(lease->ttl), now);
    if (renewed && renewal.connection_id != 0) {
        for (Level& level : lease->levels)
            level.connection_id = renewal.connection_id;
        lease->binding = LeaseBinding::connection;
    }
    Grant grant = grant_of(*lease);
    grant.renewed = renewed;
    return grant;
}

LockManager::Released LockManager::release(
    std::string_view lock, Hash128 id, std::optional<std::uint32_t> level, const Now& now) {
    std::unique_ptr<Lease> ended;
    {
        const std::lock_guard guard{mutex_};
        Lease* const lease = find_active_of(lock, id, now);
        if (lease == nullptr) {
            const auto known = ended_.find(id);
            const bool released = known != ended_.end() && known->second == EndReason::released;
            return {released ? Release::free : Release::gone, {}};
        }
        const std::size_t inside = lease->levels.size();
        const std::size_t left = std::min<std::size_t>(inside, level.value_or(inside) - 1);
        if (left > 0) {
            if (left < inside)
                leave(*lease, left);
            return {Release::inside, grant_of(*lease)};
        }
        ended = take_out(*lease, EndReason::released);
    }
    free_slot(std::move(ended), now);
    return {Release::free, {}};
}

void LockManager::withdraw(std::string_view lock, const Grant& grant, const Now& now) noexcept {
    std::unique_ptr<Lease> ended;
    {
        const std::lock_guard guard{mutex_};
        Lease* const lease = find_active_of(lock, grant.id, now);
        if (lease == nullptr || lease->asks != grant.ask)
            return;
        if (grant.count > 1)
            return leave(*lease, grant.count - 1);
        ended = take_out(*lease, EndReason::disconnected);
    }
    free_slot(std::move(ended), now);
}

bool LockManager::end(std::string_view lock, Hash128 id, EndReason how, const Now& now) {
    std::unique_ptr<Lease> ended;
    {
        const std::lock_guard guard{mutex_};
        Lease* const lease = find_active_of(lock, id, now);
        if (lease == nullptr)
            return false;
        ended = take_out(*lease, how);
    }
    free_slot(std::move(ended), now);
    return true;
}

void LockManager::end_for_connection(
    std::span<const Hash128> ids, std::uint64_t connection_id, const Now& now) {
    for (const Hash128 id : ids) {
        std::unique_ptr<Lease> ended;
        {
            const std::lock_guard guard{mutex_};
            Lease* const lease = find_active(id, now);
            if (lease == nullptr)
                continue;
            const auto is_bound = [connection_id](const Level& level) {
                return level.connection_id == connection_id;
            };
            const auto ending = std::ranges::stable_partition(lease->levels, std::not_fn(is_bound));
            if (ending.empty())
                continue;
            const std::size_t left = lease->levels.size() - ending.size();
            if (left > 0) {
                leave(*lease, left);
                continue;
            }
            ended = take_out(*lease, EndReason::disconnected);
        }
        free_slot(std::move(ended), now);
    }
}

void LockManager::detach(std::span<const Hash128> ids, std::uint64_t connection_id) noexcept {
    const std::lock_guard guard{mutex_};
    for (const Hash128 id : ids)
        if (const auto found = leases_.find(id); found != leases_.end())
            for (Level& level : found->second->levels)
                if (level.connection_id == connection_id)
                    level.connection_id = 0;
}

bool LockManager::is_bound(Hash128 id, std::uint64_t connection_id, const Now& now) const {
    const std::lock_guard guard{mutex_};
    const Lease* const lease = find_active(id, now);
    return lease != nullptr &&
           std::ranges::any_of(lease->levels, [connection_id](const Level& each) {
               return each.connection_id == connection_id;
           });
}

std::optional<Grant> LockManager::look(Hash128 id, const Now& now) const {
    const std::lock_guard guard{mutex_};
    const Lease* const lease = find_active(id, now);
    return lease != nullptr ? std::optional{grant_of(*lease)} : std::nullopt;
}

std::optional<EndReason> LockManager::why(Hash128 id) const {
    const std::lock_guard guard{mutex_};
    const auto found = ended_.find(id);
    return found != ended_.end() ? std::optional{found->second} : std::nullopt;
}

} // namespace stint::locks
