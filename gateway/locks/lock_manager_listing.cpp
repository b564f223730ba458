// Listing of locks.
#include "locks/leases.hpp"
#include "locks/lock_manager.hpp"

#include <algorithm>

namespace stint::locks {
namespace {

// The most entries of one answer, which bound its length and the time for which the mutex is held.
constexpr std::size_t most_locks = 1000;
constexpr std::size_t most_people = 10'000; // holders, and as many waiters

} // namespace

LockState LockManager::describe(const Lock& lock, std::size_t most, const Now& now) {
    LockState state;
    state.name = lock.name();
    state.max = lock.max();
    state.declared = lock.declared_;
    state.fence = lock.limit()->fence();
    if (lock.store() != nullptr) {
        limits::SharePolicy& policy = lock.limit()->share_policy();
        state.store = lock.store()->name;
        state.share = policy.ended(now.steady) ? 0 : policy.leases().covered();
    }
    state.held = lock.held_;
    for (const Lease& lease : lock.leases_) {
        if (state.holders.size() == most)
            break;
        state.holders.push_back(
            {.id = lease.id,
             .owner = lease.owner,
             .fence = lease.fence,
             .count = grant_of(lease).count,
             .binding = lease.binding,
             .held = now.steady - lease.granted,
             .since = lease.since,
             .expires_in = std::max(lease.expires - now.steady, Duration::zero())});
    }
    const std::uint64_t in_flight = lock.limit()->in_flight();
    state.proxied = in_flight - std::min(in_flight, state.held);
    state.waiting = lock.waiting_.size();
    for (const Waiting& each : lock.waiting_) {
        if (state.waiters.size() == most)
            break;
        state.waiters.push_back({each.owner_, now.steady - each.since_});
    }
    return state;
}

bool LockManager::to_be_seen(const Lock& lock) noexcept {
    return lock.declared_ || !lock.leases_.empty() || !lock.waiting_.empty();
}

LockList LockManager::list(std::string_view after, const Now& now) const {
    LockList list;
    std::size_t people = 0;
    const std::lock_guard guard{mutex_};
    auto next = after.empty() ? locks_.begin() : locks_.upper_bound(after);
    for (; next != locks_.end(); ++next) {
        if (!to_be_seen(*next->second))
            continue;
        list.more = list.locks.size() == most_locks || people >= most_people;
        if (list.more)
            break;
        list.locks.push_back(describe(*next->second, most_people - people, now));
        people += list.locks.back().holders.size() + list.locks.back().waiters.size();
        people = std::min(people, most_people);
    }
    return list;
}

std::optional<LockState> LockManager::state_of(std::string_view name, const Now& now) const {
    const std::lock_guard guard{mutex_};
    const auto found = locks_.find(name);
    if (found == locks_.end() || !to_be_seen(*found->second))
        return std::nullopt;
    return describe(*found->second, most_people, now);
}

std::vector<LockFigures> LockManager::collect_metrics() const {
    std::vector<LockFigures> figures;
    LockFigures dynamic;
    dynamic.name = "(dynamic)";
    const std::lock_guard guard{mutex_};
    dynamic.counts = dynamic_counts_;
    for (const auto& [name, lock] : locks_) {
        LockFigures& into = lock->declared_ ? figures.emplace_back() : dynamic;
        if (lock->declared_) {
            into.name = name;
            into.max = lock->max();
        }
        into.locks += to_be_seen(*lock) ? 1U : 0U;
        into.held += lock->held_;
        into.waiting += lock->waiting_.size();
        into.counts += lock->counts_;
    }
    figures.push_back(std::move(dynamic));
    return figures;
}

} // namespace stint::locks
