#include "limits/permit.hpp"

#include "limits/counters.hpp"

#include <algorithm>
#include <utility>

namespace stint::limits {

Permit::Permit(Permit&& other) noexcept
    : held_{std::move(other.held_)}, slots_{std::exchange(other.slots_, 0)}, since_{other.since_} {
    other.held_.clear();
}

Permit& Permit::operator=(Permit&& other) noexcept {
    if (this != &other) {
        drop();
        held_ = std::move(other.held_);
        slots_ = std::exchange(other.slots_, 0);
        since_ = other.since_;
        other.held_.clear();
    }
    return *this;
}

void Permit::release(const Now& now) noexcept {
    if (slots_ == 0)
        return;
    const Duration held_for = std::max(now.steady - since_, Duration::zero());
    for (const Held& held : held_)
        if (held.cap)
            held.limit->counters_->learn_hold(held_for);
    drop();
}

void Permit::settle(std::size_t index, std::uint64_t actual, const Now& now) noexcept {
    for (Held& held : held_) {
        if (held.index != index || held.cap || held.receipt.cost <= actual)
            continue;
        held.limit->counters_->give_back(
            held.key, held.receipt, held.receipt.cost - actual, now.steady);
        held.receipt.cost = actual;
        held.limit->tell_waiters(held.key);
    }
}

void Permit::drop() noexcept {
    if (slots_ == 0)
        return;
    slots_ = 0;
    for (Held& held : held_)
        if (held.cap) {
            held.limit->counters_->give_back(held.key, held.receipt, held.receipt.cost, {});
            held.limit->tell_waiters(held.key);
        }
    const auto is_cap = [](const Held& held) { return held.cap; };
    held_.erase(std::remove_if(held_.begin(), held_.end(), is_cap), held_.end());
}

} // namespace stint::limits
