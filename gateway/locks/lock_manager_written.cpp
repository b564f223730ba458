// Persistence of leases.
#include "locks/leases.hpp"
#include "locks/lock_manager.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace stint::locks {
namespace {

SavedLease saved(const Lease& lease) {
    SavedLease saved{
        .lock = lease.lock->name(),
        .max = lease.lock->max(),
        .id = lease.id,
        .fence = lease.fence,
        .ttl = lease.ttl,
        .binding = lease.binding,
        .owner = lease.owner,
        .since = lease.since,
        .reentrant = lease.reentrant};
    for (const Level& level : lease.levels)
        saved.onces.push_back(level.once);
    return saved;
}

// A lease of a lock that gateways share is not: after a restart this gateway has another session,
// which has no slot of it.
bool is_persisted(const Lease& lease) noexcept {
    return !lease.former && lease.lock->store() == nullptr;
}

} // namespace

void LockManager::record(std::function<void()> recorded) {
    const std::lock_guard guard{mutex_};
    recorded_ = std::move(recorded);
}

void LockManager::restore(
    const std::vector<SavedLease>& leases, std::uint64_t fence, const Now& now) {
    const std::lock_guard guard{mutex_};
    fence_ = std::max(fence_, fence);
    for (const SavedLease& each : leases)
        restore(each, now);
    dynamic_ = locks_.size();
}

void LockManager::restore(const SavedLease& from, const Now& now) {
    auto found = locks_.find(from.lock);
    if (found == locks_.end())
        found = locks_.emplace(from.lock, make({from.lock, from.max}, 0, now)).first;
    const LockPtr& lock = found->second;
    auto made = std::make_unique<Lease>();
    made->id = from.id;
    made->fence = from.fence;
    for (const Hash128 once : from.onces)
        made->levels.push_back({once, 0});
    made->owner = from.owner;
    made->reentrant = from.reentrant;
    made->ttl = from.ttl;
    made->binding = from.binding;
    made->since = from.since;
    limits::Charge slot = lock->charge();
    slot.quota = any_number;
    made->permit = std::move(limits::admit({&slot, 1}, now).permit);
    made->version = made->kept_version = 1;
    made->recorded_ttl = from.ttl;
    Lease& lease = insert(std::move(made), lock, now, now.steady + from.ttl);
    lease.granted -= std::max(now.wall - from.since, Duration::zero());
    know(lease);
    lock->limit()->raise_fence(from.fence);
}

void LockManager::record_grant(Lease& lease) {
    if (!recorded_ || !is_persisted(lease))
        return;
    records_.push_back({lease.id, lease.version + 1, saved(lease)});
    ++lease.version;
    ++lease.unwritten;
    lease.recorded_ttl = std::max(lease.recorded_ttl, lease.ttl);
    recorded_();
}

void LockManager::record_end(Hash128 id) noexcept try {
    records_.push_back({id, 0, std::nullopt});
    recorded_();
} catch (const std::exception&) { // without memory, a restart restores the lease for its ttl
}

LockManager::Records LockManager::take_records() {
    const std::lock_guard guard{mutex_};
    return {std::exchange(records_, {}), fence_};
}

LockManager::Records LockManager::everything() {
    const std::lock_guard guard{mutex_};
    Records all{{}, fence_};
    for (const auto& [id, lease] : leases_)
        if (is_persisted(*lease))
            all.changes.push_back({id, lease->version, saved(*lease)});
    records_.clear();
    for (const Record& each : all.changes)
        leases_.at(each.id)->unwritten = 1;
    return all;
}

void LockManager::written(const Records& records) noexcept {
    const std::lock_guard guard{mutex_};
    for (const Record& each : records.changes) {
        const auto found = leases_.find(each.id);
        if (!each.lease || found == leases_.end())
            continue;
        Lease& lease = *found->second;
        --lease.unwritten;
        lease.kept_version = std::max(lease.kept_version, each.version);
    }
    notify_listeners();
}

// Queues those records again that say a lease has ended. Ends every lease that the file neither has
// nor is about to get.
void LockManager::not_written(Records records, const Now& now) {
    for (const Record& each : records.changes) {
        std::unique_ptr<Lease> ended;
        {
            const std::lock_guard guard{mutex_};
            const auto found = leases_.find(each.id);
            if (!each.lease || found == leases_.end())
                continue;
            --found->second->unwritten;
            if (found->second->kept_version == 0 && found->second->unwritten == 0)
                ended = take_out(*found->second, EndReason::not_persisted);
        }
        free_slot(std::move(ended), now);
    }
    std::erase_if(records.changes, [](const Record& each) { return each.lease.has_value(); });
    const std::lock_guard guard{mutex_};
    records_.insert(records_.begin(), records.changes.begin(), records.changes.end());
    notify_listeners();
}

LockManager::Durability LockManager::kept(const Grant& grant) const {
    const std::lock_guard guard{mutex_};
    if (!recorded_)
        return Durability::yes;
    const auto found = leases_.find(grant.id);
    if (found == leases_.end())
        return Durability::no;
    const Lease& lease = *found->second;
    if (lease.kept_version >= grant.version)
        return Durability::yes;
    return lease.unwritten > 0 ? Durability::not_yet : Durability::no;
}

void LockManager::add(Listener& listener) {
    const std::lock_guard guard{mutex_};
    listeners_.push_back(listener);
}

void LockManager::remove(Listener& listener) noexcept {
    const std::lock_guard guard{mutex_};
    listeners_.erase(listeners_.iterator_to(listener));
}

void LockManager::notify_listeners() noexcept {
    for (Listener& each : listeners_)
        each.on_written();
}

} // namespace stint::locks
