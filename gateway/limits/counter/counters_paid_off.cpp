// Counters whose charges time pays off (token buckets): changes of their quota, and amounts given
// back to them.
#include "limits/counter/counters.hpp"

#include <algorithm>
#include <new>

namespace stint::limits {

namespace {

LiveStamps after(SteadyTime now) noexcept {
    return {.first = now.time_since_epoch().count() + 1};
}

} // namespace

// Applies a raised quota to the counter, so that its charges are paid off earlier. Receipts still
// have the former times: the difference is recorded as given back (ChargeTerms::returned). If there
// is no memory for the record, the former quota stays.
void Counters::take_up_quota(
    const CounterRef& claim, Hash128 key, const ChargeTerms& terms, SteadyTime now) const noexcept {
    Shard& shard = *claim.shard;
    const CounterCell before = *claim.slot;
    const std::int64_t by = rules_.raise(*claim.slot, terms, now);
    if (by == 0) [[likely]]
        return;
    if (shard.lends) {
        CounterCell* const returned = make_returned(shard, key, before.stamp, now);
        if (returned == nullptr) {
            *claim.slot = before;
            return;
        }
        returned->used += static_cast<std::uint64_t>(by);
    }
    if (keyed_)
        shard.expect_spent(claim.slot->stamp);
}

CounterCell* Counters::returned_to(const Shard& shard, Hash128 key, SteadyTime now) const noexcept {
    if (shard.returned == nullptr) [[likely]]
        return nullptr;
    const LiveStamps live = after(now);
    Counter* const known = shard.returned->probe(keyed_ ? key : Hash128{}, live).match;
    return known != nullptr && live.contain(known->slot) ? &known->slot : nullptr;
}

// Finds or makes the record of amounts given back to the key's counter. until: the counter's end,
// before anything is given back. nullptr: no memory, or no room for another key.
CounterCell* Counters::make_returned(
    Shard& shard, Hash128 key, std::int64_t until, SteadyTime now) const noexcept {
    if (CounterCell* const known = returned_to(shard, key, now))
        return known;
    if (shard.returned == nullptr)
        shard.returned.reset(new (std::nothrow) CounterTable);
    if (shard.returned == nullptr)
        return nullptr;
    CounterTable& table = *shard.returned;
    const Hash128 of = keyed_ ? key : Hash128{};
    const LiveStamps live = after(now);
    const CounterTable::Probe probe = table.probe(of, live);
    Counter* place = probe.match != nullptr ? probe.match : probe.expired;
    if (place == nullptr) {
        if (!table.has_room())
            make_room_for_returned(shard, now);
        if (!table.has_room())
            return nullptr;
        place = table.probe(of, {}).vacant;
    }
    table.claim(*place, of, {until, 0});
    return &place->slot;
}

// Makes room for as many keys as the limit may have. A sweep scans all keys, so not every call
// sweeps.
void Counters::make_room_for_returned(Shard& shard, SteadyTime now) const noexcept {
    constexpr std::size_t least = 8;
    constexpr Duration between_sweeps = std::chrono::milliseconds{100};
    CounterTable& table = *shard.returned;
    if (now >= shard.next_sweep_of_returned) {
        table.sweep(after(now));
        shard.next_sweep_of_returned = now + between_sweeps;
    }
    const std::uint64_t keys = max_keys_.load(std::memory_order_relaxed) / shards_.count();
    const std::size_t most = std::max(static_cast<std::size_t>(keys), least);
    if (2 * table.occupied() >= table.capacity() && table.capacity() < most)
        static_cast<void>(table.grow(std::clamp(2 * table.capacity(), least, most)));
}

} // namespace stint::limits
