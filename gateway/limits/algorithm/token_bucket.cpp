// A token bucket by the generic cell rate algorithm (GCRA, ITU-T I.371, annex A). Its state is one
// instant, TAT, at which time will have paid off all charges. Exact, in units of 1/quota ns.
// CounterCell: stamp = TAT rounded up to ns (steady); used = the quota at which time pays (see
// code_of()), and by how many units TAT is earlier than the stamp, less than that quota. A change
// of the quota keeps the tokens owed and moves TAT: see raise() and charge().
#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/algorithm/fraction.hpp"

#include <algorithm>
#include <bit>

namespace stint::limits {

namespace {

std::int64_t nanoseconds(SteadyTime instant) noexcept {
    return instant.time_since_epoch().count();
}

constexpr int early_bits = 40; // low bits of CounterCell::used; the quota's code has the others
constexpr int exact_bits = 19;

// Encodes a quota in 24 bits, never as 0: exact below 2^19, above that rounded up by less than 4 in
// a million.
std::uint64_t code_of(std::uint64_t quota) noexcept {
    int shift = std::max(static_cast<int>(std::bit_width(quota)) - exact_bits, 0);
    std::uint64_t digits = (quota + (std::uint64_t{1} << shift) - 1) >> shift;
    if (digits >> exact_bits != 0) {
        digits >>= 1;
        ++shift;
    }
    return static_cast<std::uint64_t>(shift) << exact_bits | digits;
}

CounterCell made(std::int64_t stamp, std::uint64_t quota, std::uint64_t early) noexcept {
    return {stamp, code_of(quota) << early_bits | early};
}

// Returns the quota that the cell stores, at whose rate its charges are paid off. Returns `quota`
// if the cell stores none, as in a sketch.
std::uint64_t quota_of(const CounterCell& slot, std::uint64_t quota) noexcept {
    const std::uint64_t code = slot.used >> early_bits;
    if (code == code_of(quota)) [[likely]]
        return quota;
    const std::uint64_t digits = code & ((std::uint64_t{1} << exact_bits) - 1);
    return digits > 0 ? digits << (code >> exact_bits) : quota;
}

std::uint64_t units_early(const CounterCell& slot, std::uint64_t quota) noexcept {
    const std::uint64_t early = slot.used & ((std::uint64_t{1} << early_bits) - 1);
    return early < quota ? early : 0;
}

// Returns the tokens owed, in units of 1/per of a token. Requires: ahead > 0.
Wide owed_in(const CounterCell& slot, std::int64_t ahead, std::uint64_t quota) noexcept {
    return static_cast<Wide>(static_cast<std::uint64_t>(ahead)) * quota - units_early(slot, quota);
}

// Switches the cell to another quota. The tokens that are owed stay exactly the same.
void turn_to(CounterCell& slot, std::uint64_t from, std::uint64_t to, SteadyTime now) noexcept {
    const Wide owed = owed_in(slot, slot.stamp - nanoseconds(now), from);
    const Wide whole = (owed + to - 1) / to;
    slot = whole < static_cast<Wide>(longest)
               ? made(
                     nanoseconds(now) + static_cast<std::int64_t>(whole), to,
                     static_cast<std::uint64_t>(whole * to - owed))
               : made(nanoseconds(now) + longest, to, 0);
}

// A higher quota applies to the present debt at once. A lower quota applies only from the next
// charge on: applied at once, it would keep a bucket that was just emptied closed for many times
// `per`.
std::int64_t raise(CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    const std::uint64_t quota = quota_of(slot, terms.quota);
    if (slot.stamp <= nanoseconds(now) || quota >= terms.quota) [[likely]]
        return 0;
    const std::int64_t before = slot.stamp;
    turn_to(slot, quota, terms.quota, now);
    return before - slot.stamp + (units_early(slot, terms.quota) > 0 ? 1 : 0);
}

void lower(CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    const std::int64_t ahead = slot.stamp - nanoseconds(now);
    const std::uint64_t quota = quota_of(slot, terms.quota);
    if (ahead <= 0 || terms.quota == 0 || quota <= terms.quota)
        return;
    const auto per = static_cast<Wide>(static_cast<std::uint64_t>(terms.per.count()));
    if (owed_in(slot, ahead, quota) <= per * terms.burst)
        turn_to(slot, quota, terms.quota, now);
}

// Admits a charge if the tokens owed are at most `burst - cost`. Otherwise the wait lasts until
// they are that few.
Verdict check(const CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    if (terms.cost > (terms.pace ? terms.quota : terms.burst))
        return {Refusal::cost, Duration::max()};
    const std::int64_t ahead = slot.stamp - nanoseconds(now);
    if (ahead <= 0)
        return {};
    if (terms.pace)
        return {Refusal::pace, Duration{ahead}};
    const std::uint64_t quota = quota_of(slot, terms.quota);
    const Quotient room = divide(terms.per.count(), terms.burst - terms.cost, quota);
    const bool carry = units_early(slot, quota) + room.rest >= quota;
    const std::int64_t wait = ahead - room.whole - (carry ? 1 : 0);
    return wait <= 0 ? Verdict{} : Verdict{Refusal::window, Duration{wait}};
}

void set_back(CounterCell& slot, const Quotient& by, std::uint64_t quota) noexcept {
    const std::uint64_t early = units_early(slot, quota) + by.rest;
    const bool carry = early >= quota;
    slot = made(slot.stamp - by.whole - (carry ? 1 : 0), quota, carry ? early - quota : early);
}

void set_forward(CounterCell& slot, const Quotient& by, std::uint64_t quota) noexcept {
    const std::uint64_t early = units_early(slot, quota);
    const bool carry = early < by.rest;
    slot = made(
        slot.stamp + by.whole + (carry ? 1 : 0), quota,
        carry ? early + quota - by.rest : early - by.rest);
}

// Returns TAT in whole ns, rounded down.
std::int64_t whole_end(const CounterCell& slot, std::uint64_t quota) noexcept {
    return slot.stamp - (units_early(slot, quota) > 0 ? 1 : 0);
}

Receipt charge(CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    const SteadyTime began = now - terms.late; // as if admitted when its counter opened
    if (slot.stamp <= nanoseconds(began))
        slot = made(nanoseconds(began), terms.quota, 0);
    else if (const std::uint64_t quota = quota_of(slot, terms.quota); quota != terms.quota)
        turn_to(slot, quota, terms.quota, began);
    set_forward(slot, divide(terms.per.count(), terms.cost, terms.quota), terms.quota);
    Receipt receipt{
        .mark = whole_end(slot, terms.quota),
        .cost = terms.cost,
        .quota = terms.quota,
        .returned = 0,
        .overflow = false};
    if (terms.returned != nullptr) {
        receipt.returned = static_cast<std::int64_t>(terms.returned->used);
        terms.returned->stamp = std::max(terms.returned->stamp, slot.stamp);
    }
    return receipt;
}

// Returns the latest instant until which the receipt's charge is owed. Charges are paid off in
// their order. So this is TAT just after the charge (receipt.mark), less the time given back since
// then, which has brought TAT forward.
std::int64_t owed_until(const ChargeTerms& terms, const Receipt& receipt) noexcept {
    const std::int64_t returned =
        terms.returned == nullptr ? 0 : static_cast<std::int64_t>(terms.returned->used);
    return receipt.mark - (returned - receipt.returned);
}

bool is_last(const CounterCell& slot, const ChargeTerms& terms, const Receipt& receipt) noexcept {
    return owed_until(terms, receipt) >= whole_end(slot, quota_of(slot, receipt.quota));
}

// Gives back the part of a charge that is still owed. The rest was paid off by time already: giving
// it back, too, would let more than one burst pass. A charge that is not the last is given back
// only if the counter has a record for that (terms.returned).
void give_back(
    CounterCell& slot, const ChargeTerms& terms, Receipt& receipt, SteadyTime now) noexcept {
    const bool last = is_last(slot, terms, receipt);
    const std::int64_t owed = std::min(owed_until(terms, receipt), slot.stamp) - nanoseconds(now);
    if (owed <= 0 || (!last && terms.returned == nullptr))
        return;
    const std::uint64_t quota = quota_of(slot, receipt.quota);
    const Quotient whole = divide(terms.per.count(), terms.cost, quota);
    const std::int64_t rounded_up = whole.whole + (whole.rest > 0 ? 1 : 0);
    if (rounded_up <= owed)
        set_back(slot, whole, quota);
    else
        slot.stamp -= owed;
    const std::int64_t given = std::min(rounded_up, owed);
    if (last)
        receipt.mark -= given;
    else
        terms.returned->used += static_cast<std::uint64_t>(given);
}

CounterState state(const CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    const std::int64_t ahead = slot.stamp - nanoseconds(now);
    if (ahead <= 0)
        return {0, terms.burst, Duration{}};
    const std::uint64_t quota = std::max<std::uint64_t>(quota_of(slot, terms.quota), 1);
    const auto per = static_cast<Wide>(static_cast<std::uint64_t>(terms.per.count()));
    const Wide owed = owed_in(slot, ahead, quota);
    const auto used = static_cast<std::uint64_t>((owed + per - 1) / per);
    // The `used` at which one more token is free.
    const std::uint64_t next = std::min(used, std::max<std::uint64_t>(terms.burst, 1)) - 1;
    const Wide until = owed - per * next;
    const auto resets_in = static_cast<std::int64_t>((until + quota - 1) / quota);
    return {used, terms.burst > used ? terms.burst - used : 0, Duration{resets_in}};
}

void save(const CounterCell& slot, std::string& to) {
    put(to, slot.stamp);
    put(to, slot.used);
}

CounterCell load(ByteReader& from, Duration shift, Duration, SteadyTime) {
    const std::int64_t paid_off = from.take<std::int64_t>() + shift.count();
    return {paid_off, from.take<std::uint64_t>()};
}

} // namespace

const AlgorithmOps token_bucket_ops{
    .check = check,
    .charge = charge,
    .give_back = give_back,
    .state = state,
    .raise = raise,
    .lower = lower,
    .is_last = is_last,
    .save = save,
    .load = load};

} // namespace stint::limits
