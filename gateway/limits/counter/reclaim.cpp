// Keeps a keyed limit within max_keys and its memory, without a sweeper thread. A new key takes
// over an expired counter on its probe path. Expired counters elsewhere are searched for only when
// a new key finds no room and a counter can have expired since the last search. A refused new key
// costs a probe and a few loads.
#include "limits/counter/counters.hpp"

#include <algorithm>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

// Sweeping up to `cheap_sweep` slots costs a few microseconds. A larger table is swept at most
// `sweeps_per_window` times in a window's length, so that a sweep finds about as much to erase as
// it scans.
constexpr std::size_t cheap_sweep = 512;
constexpr int sweeps_per_window = 64;

std::int64_t nanoseconds(const Now& now) noexcept {
    return now.steady.time_since_epoch().count();
}

// Returns the next capacity of a shard's table. Doubles up to the size that a shard's keys, evenly
// spread, fill to four fifths (1,000,000 keys then take 40 bytes each), and grows by a quarter at a
// time for a shard with more keys than that. max_keys: of one shard.
std::size_t capacity_after(std::size_t capacity, std::uint64_t max_keys) noexcept {
    const std::uint64_t even = max_keys + 1;
    const std::size_t full = static_cast<std::size_t>(even) + static_cast<std::size_t>(even) / 4;
    const std::size_t smallest = 8;
    const std::size_t least = std::max(capacity + capacity / 4 + 1, smallest);
    std::size_t next = std::max(full, least);
    while ((next + 1) / 2 >= least && next > 2 * smallest)
        next = (next + 1) / 2;
    return capacity >= full ? least : next;
}

} // namespace

// Finds a slot for a key without a live counter; nullptr if there is no room.
Counter* Counters::slot_for(CounterRef& claim, Hash128 key, const Now& now) noexcept {
    Shard& shard = *claim.shard;
    for (bool reclaimed = false;; reclaimed = true) {
        const CounterTable::Probe probe = shard.table.probe(key, live_stamps(shard, now));
        Counter* const expired = probe.match != nullptr ? probe.match : probe.expired;
        if (expired != nullptr &&
            occupied_.load(std::memory_order_relaxed) <= max_keys_.load(std::memory_order_relaxed))
            return expired; // occupied_ counts the slot already
        if (expired == nullptr && reserve_key()) {
            if (make_space(shard, now)) {
                claim.reserved = true;
                return shard.table.probe(key, {}).vacant;
            }
            occupied_.fetch_sub(1, std::memory_order_relaxed);
            return nullptr;
        }
        if (reclaimed)
            return nullptr;
        reclaim(shard, now);
    }
}

bool Counters::reserve_key() noexcept {
    std::uint64_t occupied = occupied_.load(std::memory_order_relaxed);
    while (occupied < max_keys_.load(std::memory_order_relaxed))
        if (occupied_.compare_exchange_weak(occupied, occupied + 1, std::memory_order_relaxed))
            return true;
    return false;
}

// Makes room for one more occupied slot in the shard's array. Erases expired counters first; the
// array grows only if that does not free enough to last for a while. False: no memory.
bool Counters::make_space(Shard& shard, const Now& now) noexcept {
    CounterTable& table = shard.table;
    if (table.has_room()) [[likely]]
        return true;
    if (shard.next_sweep.load(std::memory_order_relaxed) <= nanoseconds(now)) {
        sweep(shard, now);
        if (table.occupied() * 8 <= table.capacity() * 5 && table.has_room())
            return true;
    }
    const std::uint64_t keys = max_keys_.load(std::memory_order_relaxed) / shards_.count();
    return table.grow(capacity_after(table.capacity(), keys));
}

// Erases expired counters, in other shards as well if needed. A cap has none: the last slot that a
// key frees erases its counter.
void Counters::reclaim(Shard& own, const Now& now) noexcept {
    if (cap_)
        return;
    const std::int64_t instant = nanoseconds(now);
    if (own.next_sweep.load(std::memory_order_relaxed) <= instant)
        sweep(own, now);
    if (shards_.count() > 1 && !has_room_for_key() &&
        next_look_.load(std::memory_order_relaxed) <= instant)
        reclaim_elsewhere(own, now);
}

// Sweeps other shards until there is room for a key. Tries their locks without waiting, because
// this thread holds locks already. The wall clock may end a window before its time on the monotonic
// clock (see observe()): then every shard is tried.
void Counters::reclaim_elsewhere(const Shard& own, const Now& now) noexcept {
    const std::int64_t instant = nanoseconds(now);
    const bool ask_all = clocked_ && next_look_.load(std::memory_order_relaxed) == 0;
    // No later than a window's length from now: a counter that another thread charges at this
    // moment does not show in its shard yet.
    std::int64_t earliest =
        std::min(own.next_sweep.load(std::memory_order_relaxed), instant + per_.count());
    for (std::size_t step = 1; step < shards_.count(); ++step) {
        Shard* const made = shards_.made((own.number + step) % shards_.count());
        if (made == nullptr)
            continue;
        Shard& shard = *made;
        if (ask_all || shard.next_sweep.load(std::memory_order_relaxed) <= instant) {
            if (try_sweep(shard, now) && has_room_for_key())
                return;
        }
        earliest = std::min(earliest, shard.next_sweep.load(std::memory_order_relaxed));
    }
    next_look_.store(earliest, std::memory_order_relaxed);
}

// Sweeps the shard if its lock is free and a counter may be expired. True if it swept.
bool Counters::try_sweep(Shard& shard, const Now& now) noexcept {
    const std::unique_lock lock{shard.mutex, std::try_to_lock};
    if (!lock)
        return false;
    observe(shard, now);
    if (shard.next_sweep.load(std::memory_order_relaxed) > nanoseconds(now))
        return false;
    sweep(shard, now);
    return true;
}

void Counters::sweep(Shard& shard, const Now& now) noexcept {
    const CounterTable::Swept swept = shards_.sweep(shard, live_stamps(shard, now));
    occupied_.fetch_sub(swept.erased, std::memory_order_relaxed);
    std::int64_t next = Shard::never;
    if (shard.table.occupied() > 0) {
        next = clocked_ ? shard.clock.end.time_since_epoch().count() : swept.lowest_stamp;
        if (shard.table.capacity() > cheap_sweep)
            next = std::max(next, nanoseconds(now) + (per_ / sweeps_per_window).count());
    }
    shard.next_sweep.store(next, std::memory_order_relaxed);
}

// Estimates the time until a counter may next expire. The room that it leaves is for one key: of
// several refused clients, only one gets it.
Duration
Counters::room_estimate(const Shard& own, std::uint64_t quota, const Now& now) const noexcept {
    if (cap_)
        return hold_time_.estimate(quota);
    std::int64_t earliest = own.next_sweep.load(std::memory_order_relaxed);
    if (shards_.count() > 1)
        earliest = std::min(earliest, next_look_.load(std::memory_order_relaxed));
    if (earliest == Shard::never)
        return per_;
    return std::max<Duration>(Duration{earliest - nanoseconds(now)}, 1ms);
}

} // namespace stint::limits
