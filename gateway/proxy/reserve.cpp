// A request before limits that give those they refuse a slot in a coming window, and its ticket.
#include "http/slot_ticket.hpp"
#include "limits/reservations.hpp"
#include "proxy/exchange.hpp"

#include <boost/container/static_vector.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace stint::proxy {
namespace {

using Reserving = boost::container::static_vector<limits::Reservation, limits::max_charges>;

http::SlotName slot_of(const limits::Charge& charge, std::uint64_t number) noexcept {
    return {charge.limit->ordinal(), charge.limit->keyed() ? charge.key : Hash128{}, number};
}

} // namespace

Exchange::Next
Exchange::admit_reserving(routing::Charges& charges, const routing::KeyFacts& facts) {
    const KeyHasher& seals = context_.shared.ticket_hasher;
    const std::size_t count = charges.view().size();
    const std::span<limits::Charge> charged{charges.charges.data(), count};
    Reserving reserving;
    for (std::size_t i = 0; i < count; ++i) {
        const routing::KeyTemplate& reserve_for = charges.limits[i]->reserve_for;
        if (reserve_for.empty())
            continue;
        const auto [limit, counter, none] = slot_of(charged[i], 0);
        reserving.push_back(
            {.charge = i,
             .client = reserve_for.evaluate(facts, context_.key_scratch).hash,
             .ticket = http::find_ticket(facts.fields, limit, counter, seals)});
    }
    std::array<limits::ChargeState, limits::max_charges> room;
    const auto states = std::span{room}.first(route_->telling.any ? count : 0);
    limits::Decision decision =
        limits::admit_reserving(charged, {reserving.data(), reserving.size()}, decided_, states);
    if (route_->telling.any)
        policies_.note(charged, {charges.limits.data(), count}, states, decision, decided_);
    if (!decision.allowed()) {
        for (const limits::Reservation& each : reserving)
            if (each.slot != 0)
                reply_.add_ticket(slot_of(charged[each.charge], each.slot), seals);
        refuse(charges, decision);
        return Next::reply;
    }
    take_admission(decision, charges);
    return Next::forward;
}

} // namespace stint::proxy
