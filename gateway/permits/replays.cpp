#include "permits/replays.hpp"

#include <new>
#include <utility>

namespace stint::permits {

Replays::Claim::Claim(Claim&& other) noexcept
    : replays_{std::exchange(other.replays_, nullptr)}, key_{other.key_} {}

Replays::Claim& Replays::Claim::operator=(Claim&& other) noexcept {
    if (this != &other) {
        drop();
        replays_ = std::exchange(other.replays_, nullptr);
        key_ = other.key_;
    }
    return *this;
}

void Replays::Claim::drop() noexcept {
    if (Replays* const replays = std::exchange(replays_, nullptr)) {
        const std::lock_guard lock{replays->mutex_};
        replays->entries_.erase(key_);
    }
}

void Replays::Claim::record(const Grant& grant, SteadyTime expires) {
    const std::lock_guard lock{replays_->mutex_};
    Entry& entry = replays_->entries_.at(key_);
    entry.grant = grant;
    entry.age = replays_->by_age_.insert(replays_->by_age_.end(), key_);
    entry.expires = expires;
    entry.pending = false;
    Replays& replays = *std::exchange(replays_, nullptr);
    if (replays.by_age_.size() > most)
        replays.forget(replays.by_age_.front());
}

void Replays::forget(Hash128 key) noexcept {
    const auto found = entries_.find(key);
    by_age_.erase(found->second.age);
    entries_.erase(found);
}

std::variant<Replays::Claim, Grant, Replays::Conflict>
Replays::begin(Hash128 key, Hash128 request, SteadyTime now) {
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
