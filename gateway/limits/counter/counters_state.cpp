// Read-only views of the counters for people.
#include "limits/counter/counters.hpp"

#include <algorithm>

namespace stint::limits {

LiveStamps Counters::live_in(const Shard& shard, const Now& now) const noexcept {
    if (clocked_ && !shard.clock.open_at(now, ruler_))
        return {.first = Shard::never, .last = 0};
    return live_stamps(shard, now);
}

CounterState
Counters::state(const CounterRef& claim, const Charge& charge, const Now& now) const noexcept {
    const Shard& shard = *claim.shard;
    if (claim.overflow) [[unlikely]]
        return shard.overflow->state(charge.key, terms(shard, charge), now.steady);
    const CounterCell* slot = claim.slot;
    if (claim.fresh && !claim.counter->vacant() && claim.counter->key == charge.key)
        slot = &claim.counter->slot;
    const bool live = slot != nullptr && live_stamps(shard, now).contain(*slot);
    const ChargeTerms terms = this->terms(shard, charge);
    CounterState state = rules_.state(live ? *slot : CounterCell{}, terms, now.steady);
    if (now.steady < closed_until_) [[unlikely]]
        close(state, terms, now.steady);
    return state;
}

CounterState Counters::state_of(const Charge& charge, const Now& now) const {
    Shard& shard = shards_[shard_index(charge.key)];
    const std::lock_guard lock{shard.mutex};
    const CounterCell* slot = &shard.single;
    if (keyed_) {
        const Counter* const counter = shard.table.find(charge.key);
        slot = counter != nullptr ? &counter->slot : nullptr;
    }
    const bool live = slot != nullptr && live_in(shard, now).contain(*slot);
    const ChargeTerms terms = this->terms(shard, charge);
    CounterState state;
    if (live || shard.overflow == nullptr) [[likely]] {
        state = rules_.state(live ? *slot : CounterCell{}, terms, now.steady);
    } else {
        if (!clocked_ || shard.clock.open_at(now, ruler_))
            shard.overflow->advance(now.steady, terms);
        state = shard.overflow->state(charge.key, terms, now.steady);
    }
    if (now.steady < closed_until_) [[unlikely]]
        close(state, terms, now.steady);
    return state;
}

SteadyTime Counters::window_end(const Charge& charge, const Now& now) const {
    Shard& shard = shards_[shard_index(charge.key)];
    const std::lock_guard lock{shard.mutex};
    if (clocked_) {
        ClockWindow window = shard.clock;
        window.advance(now, ruler_);
        return window.end;
    }
    const CounterCell* slot = &shard.single;
    if (keyed_) {
        const Counter* const counter = shard.table.find(charge.key);
        slot = counter != nullptr ? &counter->slot : nullptr;
    }
    if (slot != nullptr && live_stamps(shard, now).contain(*slot))
        return std::max(SteadyTime{Duration{slot->stamp}}, closed_until_);
    return now.steady < closed_until_ ? closed_until_ : now.steady + per_;
}

std::uint64_t Counters::live_keys(const Now& now) const {
    std::uint64_t keys = 0;
    for (std::size_t i = 0; keyed_ && i < shard_count_; ++i) {
        const std::lock_guard lock{shards_[i].mutex};
        const LiveStamps live = live_in(shards_[i], now);
        keys += static_cast<std::uint64_t>(
            std::ranges::count_if(shards_[i].table, [&](const Counter& counter) {
                return !counter.vacant() && live.contain(counter.slot);
            }));
    }
    return keys;
}

std::uint64_t Counters::in_flight() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; cap_ && i < shard_count_; ++i) {
        const std::lock_guard lock{shards_[i].mutex};
        sum += shards_[i].single.used;
        for (const Counter& counter : shards_[i].table)
            sum += counter.slot.used;
        if (shards_[i].overflow != nullptr)
            sum += shards_[i].overflow->in_flight();
    }
    return sum;
}

} // namespace stint::limits
