#include "limits/permit.hpp"

#include "limits/counter/counters.hpp"

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
    if (slots_ > 0)
        adapt(false, now);
    drop();
}

void Permit::release_early(const Now& now) noexcept {
    if (slots_ > 0)
        adapt(true, now);
    drop(true);
}

void Permit::adapt(bool early_only, const Now& now) noexcept {
    const Duration held_for = std::max(now.steady - since_, Duration::zero());
    for (const Held& held : held_)
        if (held.cap && (held.release_on_upgrade || !early_only))
            held.limit->counters_->hold_time().learn(held_for);
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
    held.limit->counters_->give_back(held.key, held.receipt, cost, now);
}

void Permit::notify_waiters() noexcept {
    if (!std::exchange(untold_, false))
        return;
    for (Held& held : held_)
        if (std::exchange(held.untold, false))
            held.limit->notify_waiters(held.key);
}

void Permit::drop(bool early_only) noexcept {
    if (slots_ == 0)
        return notify_waiters();
    const auto ends = [early_only](const Held& held) {
        return held.cap && (held.release_on_upgrade || !early_only);
    };
    for (Held& held : held_)
        if (ends(held)) {
            --slots_;
            give_back(held, held.receipt.cost, {});
            held.untold = untold_ = true;
        }
    notify_waiters();
    held_.erase(std::remove_if(held_.begin(), held_.end(), ends), held_.end());
}

} // namespace stint::limits
