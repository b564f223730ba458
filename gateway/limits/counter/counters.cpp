#include "limits/counter/counters.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

// A table of up to this many keys is one shard, so that its bound is exact under any contention. A
// larger table has shards of about this size, so that growing one shard takes little time.
constexpr std::uint64_t keys_per_shard = 4096;

// Returns the number of cells in each row of a shard's sketch: 160 bytes each for a window, 32 for
// a bucket or a cap. The more shards, the narrower each sketch: all together take an eighth of the
// memory of a full table of keys.
std::size_t sketch_width(std::size_t shards) noexcept {
    constexpr std::size_t least = 128;
    constexpr std::size_t most = 1024;
    return std::clamp(2 * most / shards, least, most);
}

WallRuler ruler_for(const LimitSpec& spec) {
    if (spec.identity.time_zone.empty())
        return WallRuler{spec.identity.per};
    const auto zone = TimeZone::find(spec.identity.time_zone);
    if (!zone)
        throw std::invalid_argument{"unknown time zone " + spec.identity.time_zone};
    return {*zone, spec.identity.unit};
}

std::size_t shards_for(const LimitSpec& spec) noexcept {
    if (spec.identity.key.empty() || spec.max_keys <= keys_per_shard)
        return 1;
    const std::uint64_t wanted = (spec.max_keys - 1) / keys_per_shard + 1;
    return wanted >= Shards::most ? Shards::most : static_cast<std::size_t>(std::bit_ceil(wanted));
}

} // namespace

Counters::Counters(const LimitSpec& spec)
    : algorithm_{spec.identity.algorithm}, rules_{ops_of(spec.identity.algorithm)},
      cap_{spec.identity.algorithm == Algorithm::concurrency}, keyed_{!spec.identity.key.empty()},
      clocked_{!cap_ && spec.identity.anchor == Anchor::clock}, per_{spec.identity.per},
      ruler_{ruler_for(spec)}, shards_{shards_for(spec), rules_, spec.identity.per},
      max_keys_{spec.max_keys} {}

ChargeTerms Counters::terms(const Shard& shard, const Charge& charge) const noexcept {
    return {
        .quota = charge.quota,
        .burst = charge.burst > 0 ? charge.burst : charge.quota,
        .cost = charge.cost,
        .pace = charge.pace,
        .reserved_for_others = charge.reserved_for_others,
        .late = charge.late,
        .per = per_,
        .clock = clocked_ ? &shard.clock : nullptr,
        .returned = nullptr};
}

Verdict Counters::check(CounterRef& claim, const Charge& charge, const Now& now) noexcept {
    Shard& shard = *claim.shard;
    if (clocked_)
        observe(shard, now);
    if (!keyed_) {
        if (!clocked_)
            shards_.retire_single(shard, now.steady);
        claim.slot = &shard.single;
    } else {
        const LiveStamps live = live_stamps(shard, now);
        Counter* const match = shard.table.probe(charge.key, live).match;
        if (match != nullptr && live.contain(match->slot)) [[likely]]
            claim.slot = &match->slot;
    }
    ChargeTerms terms = this->terms(shard, charge);
    Verdict verdict;
    bool decided = false; // decided by the key's share, without the counter
    if (shares_.begun() && !charge.ignore_share) [[unlikely]] {
        const std::optional<Verdict> by_share = take_up_share(claim, charge, terms, now);
        verdict = by_share.value_or(Verdict{});
        decided = by_share.has_value();
    }
    if (claim.slot != nullptr && pays_off())
        take_up_quota(claim, charge.key, terms, now.steady);
    static constexpr CounterCell unused;
    if (!decided) [[likely]]
        verdict = rules_.check(claim.slot != nullptr ? *claim.slot : unused, terms, now.steady);
    if (verdict.refusal == Refusal::cap)
        verdict.wait = std::max(
            hold_time_.estimate(terms.quota), charge.limit->full_for(terms.quota, now.steady));
    if (now.steady < closed_until_) [[unlikely]]
        close(verdict, terms, now.steady);
    if (verdict.refusal != Refusal::none) {
        if (claim.share && verdict.refusal != Refusal::cost) [[unlikely]] {
            const ChargeTerms whole = this->terms(shard, charge);
            if (terms.quota < whole.quota || terms.burst < whole.burst)
                ShareTable::note_want(
                    verdict, shard.shares, counter_of(charge.key), charge.cost, shares_,
                    now.steady);
        }
        return verdict;
    }
    if (claim.slot == nullptr)
        return find_place(claim, charge, terms, now);
    if (rules_.prepare == nullptr || rules_.prepare(*claim.slot, terms)) [[likely]]
        return verdict;
    return {Refusal::table_full, room_estimate(shard, terms.quota, now)};
}

// Finds a place for a key without a live counter. A key counted in the sketch stays there until the
// sketch counts nothing for it: a fresh counter would forget its use.
Verdict Counters::find_place(
    CounterRef& claim, const Charge& charge, const ChargeTerms& terms, const Now& now) noexcept {
    Shard& shard = *claim.shard;
    if (shard.overflow != nullptr) [[unlikely]] {
        shard.overflow->advance(now.steady, terms);
        if (shard.overflow->holds(charge.key, now.steady))
            return check_overflow(claim, charge, terms, now);
    }
    claim.counter = slot_for(claim, charge.key, now);
    if (claim.counter == nullptr)
        return check_overflow(claim, charge, terms, now);
    claim.fresh = prepare_fresh(claim, terms);
    return claim.fresh ? Verdict{}
                       : Verdict{Refusal::table_full, room_estimate(shard, terms.quota, now)};
}

Verdict Counters::check_overflow(
    CounterRef& claim,
    const Charge& charge,
    const ChargeTerms& terms,
    const Now& now) const noexcept {
    Shard& shard = *claim.shard;
    if (shard.overflow == nullptr) {
        shard.overflow = Overflow::make(algorithm_, per_, sketch_width(shards_.count()));
        if (shard.overflow == nullptr)
            return {Refusal::table_full, room_estimate(shard, terms.quota, now)};
        shard.overflow->advance(now.steady, terms);
    }
    claim.overflow = true;
    Verdict verdict = shard.overflow->check(charge.key, terms, now.steady);
    if (verdict.refusal == Refusal::cap)
        verdict.wait = hold_time_.estimate(terms.quota);
    return verdict;
}

// Prepares the cell of a new key. A cell that is taken over passes the memory that it owns on to
// the new cell. False: no memory.
bool Counters::prepare_fresh(CounterRef& claim, const ChargeTerms& terms) const noexcept {
    constexpr std::int64_t expired = -1; // under any algorithm
    claim.prepared = {expired, 0};
    if (rules_.prepare == nullptr) [[likely]]
        return true;
    if (claim.counter->vacant())
        return rules_.prepare(claim.prepared, terms);
    const bool prepared = rules_.prepare(claim.counter->slot, terms);
    claim.prepared.used = claim.counter->slot.used;
    return prepared;
}

// Ends a clock window whose time is over, also for a request that is then refused: the window's end
// does not depend on admissions.
void Counters::observe(Shard& shard, const Now& now) noexcept {
    const SteadyTime former = shard.clock.end;
    if (!clocked_ || !shard.clock.advance(now, ruler_))
        return;
    shards_.end_window(shard, former, now.steady);
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

std::int64_t Counters::spent_at(const Shard& shard, const CounterCell& slot) const noexcept {
    return cap_ ? Shard::never : clocked_ ? shard.clock.end.time_since_epoch().count() : slot.stamp;
}

Receipt Counters::charge(const CounterRef& claim, const Charge& charge, const Now& now) noexcept {
    Shard& shard = *claim.shard;
    ChargeTerms terms = this->terms(shard, charge);
    if (claim.share) [[unlikely]]
        (void)ShareTable::narrow(
            terms, ShareTable::find_in(shard.shares, counter_of(charge.key)), shares_, now.steady);
    if (claim.overflow) [[unlikely]]
        return shard.overflow->charge(charge.key, terms, now.steady);
    if (claim.fresh) {
        if (!claim.counter->vacant())
            shards_.retire(shard, claim.counter->key, claim.counter->slot);
        shard.table.claim(*claim.counter, charge.key, claim.prepared);
    }
    CounterCell& slot = claim.fresh ? claim.counter->slot : *claim.slot;
    if (charge.refundable && pays_off()) {
        shard.lends = true;
        terms.returned = returned_to(shard, charge.key, now.steady);
    }
    const Receipt receipt = rules_.charge(slot, terms, now.steady);
    note_change(shard, charge.key);
    if (claim.share && shard.shares != nullptr && algorithm_ == Algorithm::fixed_window)
        [[unlikely]]
        shard.shares->note_use(counter_of(charge.key), receipt, now.steady, per_);
    if (claim.fresh)
        shard.expect_spent(spent_at(shard, slot));
    return receipt;
}

void Counters::cancel(CounterRef& claim) noexcept {
    if (claim.fresh && rules_.discard != nullptr && claim.counter->vacant())
        rules_.discard(claim.prepared);
    if (claim.reserved)
        occupied_.fetch_sub(1, std::memory_order_relaxed);
}

void Counters::give_back(
    Hash128 key, Receipt& receipt, std::uint64_t cost, SteadyTime now) noexcept {
    Shard* const made = shards_.made_of(key);
    if (made == nullptr) // another process has made the charge
        return;
    Shard& shard = *made;
    const std::lock_guard lock{shard.mutex};
    if (receipt.overflow) [[unlikely]] {
        if (shard.overflow == nullptr) // forgotten
            return;
        if (!cap_)
            shard.overflow->advance(now, terms(shard, {}));
        return shard.overflow->give_back(key, receipt, cost);
    }
    Counter* const counter = keyed_ ? shard.table.probe(key, {}).match : nullptr;
    if (keyed_ && counter == nullptr)
        return; // the window is over, and another key has taken the slot
    const Charge charge{.key = key, .quota = receipt.quota, .cost = cost};
    CounterCell& slot = keyed_ ? counter->slot : shard.single;
    ChargeTerms terms = this->terms(shard, charge);
    if (pays_off()) {
        if (receipt.mark <= now.time_since_epoch().count())
            return; // time has paid the charge off
        terms.returned = returned_to(shard, key, now);
        if (terms.returned == nullptr && !rules_.is_last(slot, terms, receipt))
            terms.returned = make_returned(shard, key, slot.stamp, now);
    }
    rules_.give_back(slot, terms, receipt, now);
    note_change(shard, key);
    if (shares_.begun() && shard.shares != nullptr) [[unlikely]]
        shard.shares->take_back_use(counter_of(key), receipt, cost);
    if (!keyed_)
        return;
    if (!cap_)
        return shard.expect_spent(spent_at(shard, slot));
    if (slot.used > 0)
        return;
    shard.table.erase(*counter);
    occupied_.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace stint::limits
