#include "permits/idempotency_cache.hpp"

#include <new>
#include <utility>

namespace stint::permits {

IdempotencyCache::Claim::Claim(Claim&& other) noexcept
    : replays_{std::exchange(other.replays_, nullptr)}, key_{other.key_} {}

IdempotencyCache::Claim& IdempotencyCache::Claim::operator=(Claim&& other) noexcept {
    if (this != &other) {
        drop();
        replays_ = std::exchange(other.replays_, nullptr);
        key_ = other.key_;
    }
    return *this;
}

void IdempotencyCache::Claim::drop() noexcept {
    if (IdempotencyCache* const cache = std::exchange(replays_, nullptr)) {
        const std::lock_guard lock{cache->mutex_};
        cache->entries_.erase(key_);
    }
}

void IdempotencyCache::Claim::record(const Grant& grant, SteadyTime expires) {
    const std::lock_guard lock{replays_->mutex_};
    Entry& entry = replays_->entries_.at(key_);
    entry.grant = grant;
    entry.age = replays_->by_age_.insert(replays_->by_age_.end(), key_);
    entry.expires = expires;
    entry.pending = false;
    IdempotencyCache& cache = *std::exchange(replays_, nullptr);
    if (cache.by_age_.size() > most)
        cache.forget(cache.by_age_.front());
}

void IdempotencyCache::forget(Hash128 key) noexcept {
    const auto found = entries_.find(key);
    by_age_.erase(found->second.age);
    entries_.erase(found);
}

std::variant<IdempotencyCache::Claim, Grant, IdempotencyCache::Conflict>
IdempotencyCache::begin(Hash128 key, Hash128 request, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    while (!by_age_.empty() && entries_.at(by_age_.front()).expires <= now)
        forget(by_age_.front());
    if (const auto found = entries_.find(key); found != entries_.end()) {
        const Entry& entry = found->second;
        if (entry.pending)
            return entry.request == request ? Conflict::in_progress : Conflict::other_request;
        if (entry.expires > now) {
            if (entry.request != request)
                return Conflict::other_request;
            return entry.grant;
        }
        forget(key);
    }
    entries_[key].request = request;
    return Claim{*this, key};
}

} // namespace stint::permits
