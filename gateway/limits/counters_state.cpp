// What the counters show to people; nothing here changes them.
#include "limits/counters.hpp"

#include <algorithm>

namespace stint::limits {

LiveStamps Counters::live_in(const Shard& shard, const Now& now) const noexcept {
    if (!cap_ && anchor_ == Anchor::clock && !shard.window.open_at(now, per_, anchor_))
        return {.first = Shard::never, .last = 0};
    return live_stamps(shard, now);
}

CounterState Counters::state_of(Hash128 key, const Now& now) const {
    Shard& shard = shards_[shard_index(key)];
    const std::lock_guard lock{shard.mutex};
    const bool open = !cap_ && shard.window.open_at(now, per_, anchor_);
    if (!keyed_)
        return {
            cap_ || open ? shard.window.used : 0,
            open ? shard.window.end - now.steady : Duration{}};
    const Counter* const counter = shard.table.find(key);
    if (counter == nullptr || !live_in(shard, now).contain(*counter))
        return {};
    if (cap_)
        return {counter->used, Duration{}};
    const SteadyTime end =
        anchor_ == Anchor::clock ? shard.window.end : SteadyTime{Duration{counter->stamp}};
    return {counter->used, end - now.steady};
}

std::uint64_t Counters::live_keys(const Now& now) const {
    std::uint64_t keys = 0;
    for (std::size_t i = 0; keyed_ && i < shard_count_; ++i) {
        const std::lock_guard lock{shards_[i].mutex};
        const LiveStamps live = live_in(shards_[i], now);
        keys += static_cast<std::uint64_t>(
            std::ranges::count_if(shards_[i].table, [&](const Counter& counter) {
                return !counter.vacant() && live.contain(counter);
            }));
    }
    return keys;
}

std::uint64_t Counters::in_flight() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; cap_ && i < shard_count_; ++i) {
        const std::lock_guard lock{shards_[i].mutex};
        sum += shards_[i].window.used;
        for (const Counter& counter : shards_[i].table)
            sum += counter.used;
    }
    return sum;
}

} // namespace stint::limits
