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
    : rules_{rules_of(spec.identity.algorithm)},
      cap_{spec.identity.algorithm == Algorithm::concurrency}, keyed_{!spec.identity.key.empty()},
      clocked_{!cap_ && spec.identity.anchor == Anchor::clock}, per_{spec.identity.per},
      shard_count_{shards_for(spec)}, shards_{std::make_unique<Shard[]>(shard_count_)},
      max_keys_{spec.max_keys} {}

Terms Counters::terms(const Shard& shard, const Charge& charge) const noexcept {
    return {
        .quota = charge.quota,
        .cost = charge.cost,
        .pace = charge.pace,
        .per = per_,
        .clock = clocked_ ? &shard.clock : nullptr};
}

Verdict Counters::check(Claim& claim, const Charge& charge, const Now& now) noexcept {
    Shard& shard = *claim.shard;
    if (clocked_)
        observe(shard, now);
    if (!keyed_) {
        claim.slot = &shard.single;
    } else {
        const LiveStamps live = live_stamps(shard, now);
        Counter* const match = shard.table.probe(charge.key, live).match;
        if (match != nullptr && live.contain(match->slot)) [[likely]]
            claim.slot = &match->slot;
    }
    static constexpr Slot unused;
    Verdict verdict = rules_.check(
        claim.slot != nullptr ? *claim.slot : unused, terms(shard, charge), now.steady);
    if (verdict.refusal == Refusal::cap)
        verdict.wait = hold_estimate(charge.quota);
    if (verdict.refusal != Refusal::none || claim.slot != nullptr) [[likely]]
        return verdict;
    claim.fresh = true;
    claim.counter = slot_for(claim, charge.key, now);
    if (claim.counter == nullptr)
        return {Refusal::table_full, room_estimate(shard, charge.quota, now)};
    claim.slot = &claim.counter->slot;
    return verdict;
}

// A clock window that is over gives way as soon as anyone looks, whoever is then refused: when it
// ends is not up to the requests.
void Counters::observe(Shard& shard, const Now& now) noexcept {
    if (!clocked_ || !shard.clock.advance(now, per_))
        return;
    shard.next_sweep.store(0, std::memory_order_relaxed);
    next_look_.store(0, std::memory_order_relaxed);
}

LiveStamps Counters::live_stamps(const Shard& shard, const Now& now) const noexcept {
    if (cap_)
        return {};
    if (clocked_)
        return {.first = shard.clock.serial, .last = shard.clock.serial};
    return {.first = now.steady.time_since_epoch().count() + 1};
}

std::int64_t Counters::spent_at(const Shard& shard, const Slot& slot) const noexcept {
    return cap_ ? Shard::never : clocked_ ? shard.clock.end.time_since_epoch().count() : slot.stamp;
}

void Counters::expect_spent(Shard& shard, std::int64_t instant) noexcept {
    if (instant < shard.next_sweep.load(std::memory_order_relaxed))
        shard.next_sweep.store(instant, std::memory_order_relaxed);
}

Receipt Counters::charge(const Claim& claim, const Charge& charge, const Now& now) noexcept {
    constexpr std::int64_t spent = -1; // under any algorithm
    Shard& shard = *claim.shard;
    if (claim.fresh)
        shard.table.claim(*claim.counter, charge.key, spent);
    const Receipt receipt = rules_.charge(*claim.slot, terms(shard, charge), now.steady);
    if (claim.fresh)
        expect_spent(shard, spent_at(shard, *claim.slot));
    return receipt;
}

void Counters::cancel(const Claim& claim) noexcept {
    if (claim.reserved)
        occupied_.fetch_sub(1, std::memory_order_relaxed);
}

void Counters::give_back(
    Hash128 key, const Receipt& receipt, std::uint64_t cost, SteadyTime now) noexcept {
    Shard& shard = shard_of(key);
    const std::lock_guard lock{shard.mutex};
    if (!keyed_)
        return rules_.give_back(shard.single, receipt, cost, now);
    Counter* const counter = shard.table.probe(key, {}).match;
    if (counter == nullptr)
        return; // its window is over, and its slot was needed
    rules_.give_back(counter->slot, receipt, cost, now);
    if (!cap_)
        return expect_spent(shard, spent_at(shard, counter->slot));
    if (counter->slot.used > 0)
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
