#include "limits/permit.hpp"

#include "limits/counter/counters.hpp"
#include "limits/shared/shared_counters.hpp"

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
    if (held.store == nullptr) [[likely]]
        return held.limit->counters_->give_back(held.key, held.receipt, cost, now);
    held.store->give_back(
        {.number = static_cast<std::uint64_t>(held.receipt.mark),
         .index = static_cast<std::size_t>(held.receipt.returned),
         .limit = held.limit,
         .key = held.key,
         .cost = cost});
}

void Permit::hold_shared(
    SharedCounters& store,
    std::uint64_t number,
    std::span<const Charge> charges,
    const SharedPart& part,
    const Now& now) {
    held_.reserve(held_.size() + charges.size());
    if (slots_ == 0)
        since_ = now.steady;
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const Charge& charge = charges[i];
        if ((part.not_charged >> i & 1U) != 0)
            continue;
        const bool cap = charge.limit->identity().algorithm == Algorithm::concurrency;
        held_.push_back(
            {.limit = charge.limit,
             .key = charge.key,
             .receipt =
                 {.mark = static_cast<std::int64_t>(number),
                  .cost = charge.cost,
                  .quota = charge.quota,
                  .returned = static_cast<std::int64_t>(i),
                  .overflow = false},
             .index = static_cast<std::uint32_t>(part.first + i),
             .cap = cap,
             .release_on_upgrade = charge.release_on_upgrade,
             .untold = false,
             .store = &store});
        slots_ += cap ? 1 : 0;
    }
}

void Permit::absorb(Permit&& other, std::span<const std::uint32_t> indexes) {
    held_.reserve(held_.size() + other.held_.size());
    if (slots_ == 0)
        since_ = other.since_;
    for (Held& each : other.held_) {
        each.index = indexes[each.index];
        held_.push_back(each);
    }
    slots_ += std::exchange(other.slots_, 0);
    untold_ = std::exchange(other.untold_, false) || untold_;
    other.held_.clear();
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
