#include "limits/permit.hpp"

#include "limits/counter/counters.hpp"
#include "limits/return_listener.hpp"

#include <algorithm>
#include <utility>

namespace stint::limits {

Permit::Permit(Permit&& other) noexcept
    : held_{std::move(other.held_)}, slots_{std::exchange(other.slots_, 0)},
      untold_{std::exchange(other.untold_, false)}, since_{other.since_} {
    other.held_.clear();
}

Permit& Permit::operator=(Permit&& other) noexcept {
    if (this != &other) {
        if (!held_.empty())
            drop();
        held_ = std::move(other.held_);
        slots_ = std::exchange(other.slots_, 0);
        untold_ = std::exchange(other.untold_, false);
        since_ = other.since_;
        other.held_.clear();
    }
    return *this;
}

void Permit::release(const Now& now) noexcept {
    drop(false, &now);
}

void Permit::release_early(const Now& now) noexcept {
    drop(true, &now);
}

void Permit::settle(std::size_t index, std::uint64_t actual, const Now& now) noexcept {
    for (Held& held : held_) {
        if (held.index != index || held.cap || held.receipt.cost <= actual)
            continue;
        give_back(held, held.receipt.cost - actual, now.steady);
        held.receipt.cost = actual;
        held.untold = untold_ = true;
    }
}

void Permit::give_back(Held& held, std::uint64_t cost, SteadyTime now) noexcept {
    if (listener_ != nullptr) [[unlikely]]
        listener_->given_back(*held.limit, held.key, held.receipt, cost);
    held.limit->counters_->give_back(held.key, held.receipt, cost, now);
}

void Permit::give_back_foreign(
    Limit& limit,
    Hash128 key,
    const Receipt& receipt,
    std::uint64_t cost,
    SteadyTime now) noexcept {
    if (limit.counters_->is_cap()) // its slots are permits of this process
        return;
    Receipt of_charge = receipt;
    if (listener_ != nullptr)
        listener_->given_back(limit, key, receipt, cost);
    limit.counters_->give_back(key, of_charge, cost, now);
    limit.notify_waiters(key);
}

void Permit::notify_waiters() noexcept {
    if (!std::exchange(untold_, false))
        return;
    for (Held& held : held_)
        if (std::exchange(held.untold, false))
            held.limit->notify_waiters(held.key);
}

// now: if set, each cap learns how long its slot was held.
void Permit::drop(bool early_only, const Now* now) noexcept {
    if (slots_ == 0)
        return notify_waiters();
    const auto ends = [early_only](const Held& held) {
        return held.cap && (held.release_on_upgrade || !early_only);
    };
    const Duration held_for =
        now != nullptr ? std::max(now->steady - since_, Duration::zero()) : Duration::zero();
    for (Held& held : held_)
        if (ends(held)) {
            if (now != nullptr)
                held.limit->counters_->hold_time().learn(held_for);
            --slots_;
            give_back(held, held.receipt.cost, {});
            held.untold = untold_ = true;
        }
    notify_waiters();
    held_.erase(std::remove_if(held_.begin(), held_.end(), ends), held_.end());
}

} // namespace stint::limits
