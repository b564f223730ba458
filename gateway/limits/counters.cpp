#include "limits/counters.hpp"

#include <algorithm>
#include <bit>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

// A table of up to this many keys is one shard, so that its bound is exact under any contention;
// a larger one has shards of about this size, so that none is moved for long when it grows.
constexpr std::uint64_t keys_per_shard = 4096;
constexpr std::uint64_t max_shards = 256;

std::size_t shards_for(const LimitSpec& spec) noexcept {
    if (spec.identity.key.empty() || spec.max_keys <= keys_per_shard)
        return 1;
    const std::uint64_t wanted = (spec.max_keys - 1) / keys_per_shard + 1;
    return static_cast<std::size_t>(wanted >= max_shards ? max_shards : std::bit_ceil(wanted));
}

} // namespace

Counters::Counters(const LimitSpec& spec)
    : cap_{spec.identity.algorithm == Algorithm::concurrency}, keyed_{!spec.identity.key.empty()},
      anchor_{spec.identity.anchor}, per_{spec.identity.per}, shard_count_{shards_for(spec)},
      shards_{std::make_unique<Shard[]>(shard_count_)}, max_keys_{spec.max_keys} {}

Verdict Counters::check(Claim& claim, const Charge& charge, const Now& now) noexcept {
    return keyed_ ? check_keyed(claim, charge, now) : check_single(*claim.shard, charge.quota, now);
}

Verdict Counters::judge(
    std::uint64_t used, std::uint64_t quota, SteadyTime end, const Now& now) const noexcept {
    if (used < quota) [[likely]]
        return {};
    return cap_ ? Verdict{Refusal::cap, hold_estimate(quota)}
                : Verdict{Refusal::window, end - now.steady};
}

Verdict Counters::check_single(Shard& shard, std::uint64_t quota, const Now& now) noexcept {
    if (cap_)
        return judge(shard.window.used, quota, {}, now);
    observe(shard, now);
    if (shard.window.end > now.steady) [[likely]]
        return judge(shard.window.used, quota, shard.window.end, now);
    return judge(0, quota, now.steady + per_, now);
}

Verdict Counters::check_keyed(Claim& claim, const Charge& charge, const Now& now) noexcept {
    Shard& shard = *claim.shard;
    observe(shard, now);
    const LiveStamps live = live_stamps(shard, now);
    Counter* const match = shard.table.probe(charge.key, live).match;
    if (match != nullptr && live.contain(*match)) [[likely]] {
        claim.counter = match;
        const bool shared_end = anchor_ == Anchor::clock;
        const SteadyTime end = shared_end ? shard.window.end : SteadyTime{Duration{match->stamp}};
        return judge(match->used, charge.quota, end, now);
    }
    if (charge.quota == 0)
        return judge(0, 0, now.steady + per_, now);
    claim.fresh = true;
    claim.counter = slot_for(claim, charge.key, now);
    if (claim.counter == nullptr)
        return {Refusal::table_full, room_estimate(shard, charge.quota, now)};
    return {};
}

// A clock window that is over gives way as soon as anyone looks, whoever is then refused: when it
// ends is not up to the requests.
void Counters::observe(Shard& shard, const Now& now) noexcept {
    if (cap_ || anchor_ != Anchor::clock || shard.window.open_at(now, per_, anchor_))
        return;
    shard.window.advance(now, per_, anchor_);
    ++shard.serial;
    shard.next_sweep.store(0, std::memory_order_relaxed);
    next_look_.store(0, std::memory_order_relaxed);
}

LiveStamps Counters::live_stamps(const Shard& shard, const Now& now) const noexcept {
    if (cap_)
        return {};
    if (anchor_ == Anchor::first_request)
        return {.first = now.steady.time_since_epoch().count() + 1};
    return {.first = shard.serial, .last = shard.serial};
}

void Counters::charge(const Claim& claim, Hash128 key, const Now& now) noexcept {
    Shard& shard = *claim.shard;
    if (!keyed_) {
        if (!cap_ && shard.window.end <= now.steady)
            shard.window.advance(now, per_, anchor_);
        ++shard.window.used;
        return;
    }
    if (claim.fresh) {
        const std::int64_t end = (now.steady + per_).time_since_epoch().count();
        const bool own_end = anchor_ == Anchor::first_request && !cap_;
        const std::int64_t spent_at = cap_      ? Shard::never
                                      : own_end ? end
                                                : shard.window.end.time_since_epoch().count();
        shard.table.claim(*claim.counter, key, cap_ ? 1 : own_end ? end : shard.serial);
        if (spent_at < shard.next_sweep.load(std::memory_order_relaxed))
            shard.next_sweep.store(spent_at, std::memory_order_relaxed);
    }
    ++claim.counter->used;
}

void Counters::cancel(const Claim& claim) noexcept {
    if (claim.reserved)
        occupied_.fetch_sub(1, std::memory_order_relaxed);
}

void Counters::release(Hash128 key) noexcept {
    Shard& shard = shard_of(key);
    const std::lock_guard lock{shard.mutex};
    if (!keyed_) {
        --shard.window.used;
        return;
    }
    Counter* const counter = shard.table.probe(key, {}).match;
    if (--counter->used > 0)
        return;
    shard.table.erase(*counter);
    occupied_.fetch_sub(1, std::memory_order_relaxed);
}

// Relaxed on purpose: a sample lost between two threads does an average no harm.
void Counters::learn_hold(Duration held) noexcept {
    const std::int64_t sample = std::max<std::int64_t>(held.count(), 1);
    const std::int64_t mean = mean_hold_.load(std::memory_order_relaxed);
    const std::int64_t next = mean == 0 ? sample : mean + (sample - mean) / 8;
    mean_hold_.store(next, std::memory_order_relaxed);
}

Duration Counters::hold_estimate(std::uint64_t quota) const noexcept {
    const std::int64_t mean = mean_hold_.load(std::memory_order_relaxed);
    if (mean == 0)
        return 1s;
    const auto share = static_cast<std::uint64_t>(mean) / std::max<std::uint64_t>(quota, 1);
    return std::max<Duration>(Duration{static_cast<std::int64_t>(share)}, 1ms);
}

void Counters::count_refusal(Refusal refusal) noexcept {
    refused_.fetch_add(1, std::memory_order_relaxed);
    if (refusal == Refusal::table_full)
        table_full_.fetch_add(1, std::memory_order_relaxed);
}

} // namespace stint::limits
