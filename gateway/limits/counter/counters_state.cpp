// The state of counters, and the shares of their keys.
#include "limits/counter/counters.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace stint::limits {

namespace {

// Returns the entry of the key's share, unless that has ended. live(): true if the key's counter is
// live.
template <class Live>
const ShareTable::Entry*
lasting_entry(const Shard& shard, Hash128 key, Duration per, const Now& now, Live live) noexcept {
    const auto* const entry = ShareTable::find_in(shard.shares, key);
    return entry != nullptr && entry->holds(live(), per, now.steady) ? entry : nullptr;
}

} // namespace

LiveStamps Counters::live_in(const Shard& shard, const Now& now) const noexcept {
    if (clocked_ && !shard.clock.open_at(now, ruler_))
        return {.first = Shard::never, .last = 0};
    return live_stamps(shard, now);
}

CounterState
Counters::state(const CounterRef& claim, const Charge& charge, const Now& now) const noexcept {
    const Shard& shard = *claim.shard;
    ChargeTerms terms = this->terms(shard, charge);
    if (claim.share) [[unlikely]]
        (void)ShareTable::narrow(
            terms, ShareTable::find_in(shard.shares, counter_of(charge.key)), shares_, now.steady);
    if (claim.overflow) [[unlikely]]
        return shard.overflow->state(charge.key, terms, now.steady);
    const CounterCell* slot = claim.slot;
    if (claim.fresh && !claim.counter->vacant() && claim.counter->key == charge.key)
        slot = &claim.counter->slot;
    const bool live = slot != nullptr && live_stamps(shard, now).contain(*slot);
    CounterState state = rules_.state(live ? *slot : CounterCell{}, terms, now.steady);
    if (now.steady < closed_until_) [[unlikely]]
        close(state, terms, now.steady);
    return state;
}

CounterState Counters::state_of(const Charge& charge, const Now& now) const {
    Shard& shard = shards_.for_reading(charge.key);
    const std::lock_guard lock{shard.mutex};
    const CounterCell* const live = live_slot(shard, charge.key, now);
    ChargeTerms terms = this->terms(shard, charge);
    if (shares_.begun() && !charge.ignore_share) [[unlikely]]
        (void)ShareTable::narrow(
            terms,
            lasting_entry(
                shard, counter_of(charge.key), per_, now,
                [&] { return counts(shard, charge.key, now); }),
            shares_, now.steady);
    CounterState state;
    if (live != nullptr || shard.overflow == nullptr) [[likely]] {
        state = rules_.state(live != nullptr ? *live : CounterCell{}, terms, now.steady);
    } else {
        if (!clocked_ || shard.clock.open_at(now, ruler_))
            shard.overflow->advance(now.steady, terms);
        state = shard.overflow->state(charge.key, terms, now.steady);
    }
    if (now.steady < closed_until_) [[unlikely]]
        close(state, terms, now.steady);
    return state;
}

// Returns the key's own cell; nullptr if the key has no live one.
const CounterCell*
Counters::live_slot(const Shard& shard, Hash128 key, const Now& now) const noexcept {
    const CounterCell* slot = &shard.single;
    if (keyed_) {
        const Counter* const counter = shard.table.find(key);
        slot = counter != nullptr ? &counter->slot : nullptr;
    }
    return slot != nullptr && live_in(shard, now).contain(*slot) ? slot : nullptr;
}

// True if anything still counts for the key, in its cell or in the sketch. Always true for a cap: a
// share of a cap's key stays set although no slot is held.
bool Counters::counts(const Shard& shard, Hash128 key, const Now& now) const noexcept {
    if (cap_ || live_slot(shard, key, now) != nullptr)
        return true;
    if (shard.overflow == nullptr) [[likely]]
        return false;
    if (!clocked_ || shard.clock.open_at(now, ruler_))
        shard.overflow->advance(now.steady, terms(shard, {}));
    return shard.overflow->holds(key, now.steady);
}

KeyShare Counters::share(Hash128 key, const Now& now) const noexcept {
    if (!shares_.begun()) [[likely]]
        return {};
    Shard& shard = shards_.for_reading(key);
    const std::lock_guard lock{shard.mutex};
    const auto* const entry =
        lasting_entry(shard, counter_of(key), per_, now, [&] { return counts(shard, key, now); });
    return {
        shares_.numbers(entry != nullptr ? &entry->share : nullptr, now.steady),
        entry != nullptr ? entry->demand : ShareDemand{}};
}

bool Counters::set_share(Hash128 key, const Share& share, const Now& now) noexcept try {
    Shard& shard = shard_of(key);
    const std::lock_guard lock{shard.mutex};
    observe(shard, now);
    if (shard.shares == nullptr)
        shard.shares.reset(new (std::nothrow) ShareTable);
    if (shard.shares == nullptr)
        return false;
    const std::uint64_t most = max_keys_.load(std::memory_order_relaxed) / shards_.count();
    shard.shares->make_room(static_cast<std::size_t>(most), per_, now.steady, [&](Hash128 each) {
        return counts(shard, each, now);
    });
    const auto [entry, made] = shard.shares->obtain(counter_of(key));
    if (entry == nullptr)
        return false;
    shares_.begin();
    entry->held = true;
    entry->share = share;
    entry->set_at = now.steady;
    auto* const live = const_cast<CounterCell*>(live_slot(shard, key, now));
    if (live != nullptr && made && algorithm_ == Algorithm::fixed_window)
        entry->used.add(live->stamp, live->used, now.steady, per_);
    if (live == nullptr || rules_.lower == nullptr)
        return true;
    const Charge charge{.key = key, .quota = share.numbers.quota, .burst = share.numbers.burst};
    rules_.lower(*live, terms(shard, charge), now.steady);
    note_change(shard, key);
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

// Narrows the terms to the key's share; drops a share that has ended. Returns a refusal if the
// whole share is less than the cost, else nothing.
std::optional<Verdict> Counters::take_up_share(
    CounterRef& claim, const Charge& charge, ChargeTerms& terms, const Now& now) const noexcept {
    Shard& shard = *claim.shard;
    const Hash128 of = counter_of(charge.key);
    ShareTable::Entry* entry = shard.shares != nullptr ? shard.shares->find(of) : nullptr;
    if (entry != nullptr && !entry->holds(counts(shard, charge.key, now), per_, now.steady))
        entry = shard.shares->end(of, *entry, per_, now.steady);
    if (entry != nullptr)
        entry->demand.whole = {charge.quota, charge.burst};
    claim.share = entry != nullptr || shares_.numbers(nullptr, now.steady).has_value();
    const ChargeTerms whole = terms;
    if (!ShareTable::narrow(terms, entry, shares_, now.steady) ||
        terms.cost <= terms.most_cost(algorithm_))
        return std::nullopt;
    if (whole.quota > 0 && whole.cost > whole.most_cost(algorithm_))
        return Verdict{Refusal::cost, Duration::max()};
    if (cap_)
        return Verdict{Refusal::cap, {}};
    // The time at which the share grows is not known. So the wait lasts until another window, or
    // for `per`.
    if (clocked_)
        return Verdict{Refusal::window, shard.clock.end - now.steady};
    const CounterCell* const live = live_slot(shard, charge.key, now);
    const bool open = live != nullptr && algorithm_ == Algorithm::fixed_window;
    return Verdict{Refusal::window, open ? SteadyTime{Duration{live->stamp}} - now.steady : per_};
}

std::uint64_t Counters::use(const Charge& charge, const Now& now) const {
    if (algorithm_ == Algorithm::token_bucket) {
        Shard& shard = shards_.for_reading(charge.key);
        const std::lock_guard lock{shard.mutex};
        // A sketch notes until when a bucket owes, but not how much: that depends on the quota.
        if (live_slot(shard, charge.key, now) == nullptr && counts(shard, charge.key, now))
            return unknown_use;
    }
    if (algorithm_ != Algorithm::fixed_window || !shares_.begun())
        return state_of(charge, now).used;
    Shard& shard = shards_.for_reading(charge.key);
    const std::lock_guard lock{shard.mutex};
    const auto* const entry = ShareTable::find_in(shard.shares, counter_of(charge.key));
    const CounterCell* const live = live_slot(shard, charge.key, now);
    // A window by the clock may be longer than `per`: a day of 25 hours, or one that a wall clock
    // set back has made longer.
    const std::uint64_t recent = entry != nullptr ? entry->used.within(per_, now.steady) : 0;
    const std::uint64_t exact = std::max(recent, live != nullptr ? live->used : 0);
    if (shard.overflow == nullptr) [[likely]]
        return exact;
    const ChargeTerms terms = this->terms(shard, charge);
    if (!clocked_ || shard.clock.open_at(now, ruler_))
        shard.overflow->advance(now.steady, terms);
    return exact + shard.overflow->state(charge.key, terms, now.steady).used;
}

SteadyTime Counters::window_end(const Charge& charge, const Now& now) const {
    Shard& shard = shards_.for_reading(charge.key);
    const std::lock_guard lock{shard.mutex};
    if (clocked_) {
        ClockWindow window = shard.clock;
        window.advance(now, ruler_);
        return window.end;
    }
    if (const CounterCell* const live = live_slot(shard, charge.key, now))
        return std::max(SteadyTime{Duration{live->stamp}}, closed_until_);
    return now.steady < closed_until_ ? closed_until_ : now.steady + per_;
}

bool Counters::forget(std::optional<Hash128> key, const Now& now) noexcept {
    if (cap_)
        return false;
    if (key && keyed_) {
        Shard* const made = shards_.made_of(*key);
        if (made == nullptr)
            return true;
        Shard& shard = *made;
        const std::lock_guard lock{shard.mutex};
        // While a key's own cell is live, no charge of it is in the sketch.
        if (live_slot(shard, *key, now) == nullptr && counts(shard, *key, now))
            return false;
        if (Counter* const counter = shard.table.probe(*key, {}).match) {
            shard.table.erase(*counter);
            occupied_.fetch_sub(1, std::memory_order_relaxed);
            note_change(shard, *key);
        }
        if (CounterCell* const returned = returned_to(shard, *key, now.steady))
            returned->used = 0;
        return true;
    }
    shards_.visit_made([this](Shard& shard) {
        const std::lock_guard lock{shard.mutex};
        if (rules_.discard != nullptr)
            rules_.discard(shard.single);
        shard.single = {};
        const std::size_t erased = shard.table.sweep({.first = Shard::never, .last = 0}).erased;
        occupied_.fetch_sub(erased, std::memory_order_relaxed);
        shard.overflow.reset();
        shard.returned.reset();
        shard.changed.store(keyed_ ? ~std::uint64_t{0} : 1, std::memory_order_relaxed);
    });
    return true;
}

std::uint64_t Counters::live_keys(const Now& now) const {
    std::uint64_t keys = 0;
    shards_.visit_made([&](Shard& shard) {
        const std::lock_guard lock{shard.mutex};
        const LiveStamps live = live_in(shard, now);
        keys += static_cast<std::uint64_t>(
            std::ranges::count_if(shard.table, [&](const Counter& counter) {
                return !counter.vacant() && live.contain(counter.slot);
            }));
    });
    return keys;
}

std::uint64_t Counters::in_flight(Limit::HeldSlots* by_key) const {
    std::uint64_t sum = 0;
    if (!cap_)
        return sum;
    const auto add = [&](Hash128 key, std::uint64_t slots) {
        sum += slots;
        if (by_key != nullptr && slots > 0)
            by_key->keys.emplace_back(key, slots);
    };
    shards_.visit_made([&](Shard& shard) {
        const std::lock_guard lock{shard.mutex};
        add({}, shard.single.used);
        for (const Counter& counter : shard.table)
            add(counter.key, counter.slot.used);
        const std::uint64_t others = shard.overflow != nullptr ? shard.overflow->in_flight() : 0;
        sum += others;
        if (by_key != nullptr && others > 0)
            by_key->complete = false;
    });
    return sum;
}

} // namespace stint::limits
