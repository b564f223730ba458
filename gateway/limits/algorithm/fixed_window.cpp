// A fixed window: a count and its end. CounterCell: stamp = the end of the counter's own window
// (steady, ns), or the serial of the window that all counters share; used = the count.
#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/algorithm/fraction.hpp"

#include <algorithm>

namespace stint::limits {

namespace {

bool live(const CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    return terms.clock != nullptr ? slot.stamp == terms.clock->serial
                                  : slot.stamp > now.time_since_epoch().count();
}

SteadyTime end_of(const CounterCell& slot, const ChargeTerms& terms) noexcept {
    return terms.clock != nullptr ? terms.clock->end : SteadyTime{Duration{slot.stamp}};
}

Verdict check(const CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    const bool open = live(slot, terms, now);
    const std::uint64_t used = open ? slot.used : 0;
    const std::uint64_t taken = used + terms.reserved_for_others;
    if (taken + terms.cost <= terms.quota && !terms.pace) [[likely]]
        return {};
    if (terms.cost > terms.quota && terms.quota > 0)
        return {Refusal::cost, Duration::max()};
    const SteadyTime end = open || terms.clock != nullptr ? end_of(slot, terms) : now + terms.per;
    if (taken + terms.cost > terms.quota)
        return {Refusal::window, end - now};
    // Pacing: the next charge is admitted once used / quota of the window's length has passed.
    const Duration length = terms.clock != nullptr ? terms.clock->length : terms.per;
    const Duration left = length - Duration{divide_up(length.count(), used, terms.quota)};
    if (const SteadyTime turn = end - left; used > 0 && turn > now)
        return {Refusal::pace, turn - now};
    return {};
}

Receipt charge(CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    if (!live(slot, terms, now))
        slot = {
            terms.clock != nullptr ? terms.clock->serial
                                   : (now + terms.per).time_since_epoch().count(),
            0};
    slot.used += terms.cost;
    return {
        .mark = slot.stamp,
        .cost = terms.cost,
        .quota = terms.quota,
        .returned = 0,
        .overflow = false};
}

void give_back(CounterCell& slot, const ChargeTerms& terms, Receipt& receipt, SteadyTime) noexcept {
    if (slot.stamp == receipt.mark)
        slot.used -= std::min(slot.used, terms.cost); // less was used if the key was forgotten
}

CounterState state(const CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    const bool open = live(slot, terms, now);
    const std::uint64_t used = open ? slot.used : 0;
    const std::uint64_t taken = used + terms.reserved_for_others;
    return {
        used, terms.quota > taken ? terms.quota - taken : 0,
        open ? end_of(slot, terms) - now : Duration{}};
}

std::uint64_t counted(const CounterCell& slot) noexcept {
    return slot.used;
}

void save(const CounterCell& slot, std::string& to) {
    put(to, slot.stamp);
    put(to, slot.used);
}

CounterCell load(ByteReader& from, Duration shift, Duration per, SteadyTime now) {
    const std::int64_t end = from.take<std::int64_t>() + shift.count();
    return {std::min(end, (now + per).time_since_epoch().count()), from.take<std::uint64_t>()};
}

} // namespace

const AlgorithmOps fixed_window_ops{
    .check = check,
    .charge = charge,
    .give_back = give_back,
    .state = state,
    .counted = counted,
    .save = save,
    .load = load};

} // namespace stint::limits
