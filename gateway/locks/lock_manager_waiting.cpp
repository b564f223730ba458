// Requests without a lease: waiters and refusals.
#include "locks/lock_manager.hpp"

#include <algorithm>

namespace stint::locks {
namespace {

// The most holders that are searched for the earliest expiry.
constexpr std::size_t most_compared = 64;

} // namespace

void LockManager::count_refusal(Lock& lock) noexcept {
    const std::lock_guard guard{mutex_};
    ++lock.counts_.refused;
}

LockManager::Busy LockManager::busy(const Lock& lock, const Now& now) const {
    const std::lock_guard guard{mutex_};
    if (lock.leases_.empty() || lock.leases_.size() > most_compared)
        return {lock.held_};
    SteadyTime first = SteadyTime::max();
    for (const Lease& lease : lock.leases_)
        first = std::min(first, lease.expires);
    return {lock.held_, std::max(first - now.steady, Duration::zero())};
}

void LockManager::begin_wait(
    const LockPtr& lock, Waiting& waiting, std::string_view owner, const Now& now) {
    waiting.owner_ = owner;
    waiting.since_ = now.steady;
    waiting.lock_ = lock;
    waiting.book_ = this;
    const std::lock_guard guard{mutex_};
    lock->waiting_.push_back(waiting);
}

void LockManager::end_wait(Waiting& waiting) noexcept {
    const std::lock_guard guard{mutex_};
    waiting.lock_->waiting_.erase(waiting.lock_->waiting_.iterator_to(waiting));
    waiting.lock_.reset();
    waiting.book_ = nullptr;
}

} // namespace stint::locks
