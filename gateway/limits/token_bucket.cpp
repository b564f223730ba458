// A token bucket by the generic cell rate algorithm (ITU-T I.371, annex A, there for cells of a
// network): one instant, at which all that was charged will be paid off (TAT). Exact, in units of
// 1/quota ns. Slot: stamp = TAT rounded up to ns (steady); used = by how many units TAT is earlier,
// less than quota. A quota that changes moves TAT by less than 1 ns.
#include "limits/exact.hpp"
#include "limits/rules.hpp"

#include <algorithm>

namespace stint::limits {

namespace {

std::int64_t nanoseconds(SteadyTime instant) noexcept {
    return instant.time_since_epoch().count();
}

std::uint64_t units_early(const Slot& slot, std::uint64_t quota) noexcept {
    return slot.used < quota ? slot.used : 0;
}

// When `burst - cost` more than what is charged still fits.
Verdict check(const Slot& slot, const Terms& terms, SteadyTime now) noexcept {
    if (terms.cost > (terms.pace ? terms.quota : terms.burst))
        return {Refusal::cost, Duration::max()};
    const std::int64_t ahead = slot.stamp - nanoseconds(now);
    if (ahead <= 0)
        return {};
    if (terms.pace)
        return {Refusal::pace, Duration{ahead}};
    const Quotient room = divide(terms.per.count(), terms.burst - terms.cost, terms.quota);
    const bool carry = units_early(slot, terms.quota) + room.rest >= terms.quota;
    const std::int64_t wait = ahead - room.whole - (carry ? 1 : 0);
    return wait <= 0 ? Verdict{} : Verdict{Refusal::window, Duration{wait}};
}

void set_back(Slot& slot, const Quotient& by, std::uint64_t quota) noexcept {
    slot.stamp -= by.whole;
    slot.used = units_early(slot, quota) + by.rest;
    if (slot.used >= quota) {
        slot.used -= quota;
        --slot.stamp;
    }
}

void set_forward(Slot& slot, const Quotient& by, std::uint64_t quota) noexcept {
    const std::uint64_t early = units_early(slot, quota);
    slot.stamp += by.whole + (early < by.rest ? 1 : 0);
    slot.used = early < by.rest ? early + quota - by.rest : early - by.rest;
}

Receipt charge(Slot& slot, const Terms& terms, SteadyTime now) noexcept {
    if (const std::int64_t begins = nanoseconds(now - terms.late); slot.stamp <= begins)
        slot = {begins, 0};
    set_forward(slot, divide(terms.per.count(), terms.cost, terms.quota), terms.quota);
    return {
        .mark = slot.stamp - (slot.used > 0 ? 1 : 0),
        .cost = terms.cost,
        .quota = terms.quota,
        .returned = terms.returned != nullptr ? *terms.returned : 0,
        .overflow = false};
}

// Time pays off what was charged first, so of this charge is still owed what lies before the TAT
// that it led to, less what has been given back to charges since (which brought TAT forward). No
// more than that may be given back: time that has passed has paid for the rest, and to pay it again
// would be a burst on top of the burst.
void give_back(Slot& slot, const Terms& terms, const Receipt& receipt, SteadyTime now) noexcept {
    if (terms.returned == nullptr)
        return;
    const std::int64_t owed_until = receipt.mark - (*terms.returned - receipt.returned);
    const std::int64_t owed = std::min(owed_until, slot.stamp) - nanoseconds(now);
    if (owed <= 0)
        return;
    const Quotient whole = divide(terms.per.count(), terms.cost, terms.quota);
    const std::int64_t rounded_up = whole.whole + (whole.rest > 0 ? 1 : 0);
    if (rounded_up <= owed)
        set_back(slot, whole, terms.quota);
    else
        slot.stamp -= owed;
    *terms.returned += std::min(rounded_up, owed);
}

CounterState state(const Slot& slot, const Terms& terms, SteadyTime now) noexcept {
    const std::int64_t ahead = slot.stamp - nanoseconds(now);
    if (ahead <= 0)
        return {0, terms.burst, Duration{}};
    const auto per = static_cast<Wide>(static_cast<std::uint64_t>(terms.per.count()));
    const Wide owed = static_cast<Wide>(static_cast<std::uint64_t>(ahead)) * terms.quota -
                      units_early(slot, terms.quota);
    const auto used = static_cast<std::uint64_t>((owed + per - 1) / per);
    const std::uint64_t next = std::min(used, terms.burst) - 1; // used, when there is one more
    const Wide until = owed - per * next;
    const auto resets_in = static_cast<std::int64_t>((until + terms.quota - 1) / terms.quota);
    return {used, terms.burst > used ? terms.burst - used : 0, Duration{resets_in}};
}

void save(const Slot& slot, std::string& to) {
    put(to, slot.stamp);
    put(to, slot.used);
}

Slot load(ByteReader& from, Duration shift, Duration, SteadyTime) {
    const std::int64_t paid_off = from.take<std::int64_t>() + shift.count();
    return {paid_off, from.take<std::uint64_t>()};
}

} // namespace

const Rules token_bucket_rules{
    .check = check,
    .charge = charge,
    .give_back = give_back,
    .state = state,
    .save = save,
    .load = load};

} // namespace stint::limits
