#include "admission/reserving.hpp"

#include "http/slot_ticket.hpp"
#include "limits/limit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace stint::admission {
namespace {

http::SlotName slot_of(const limits::Charge& charge, std::uint64_t number) noexcept {
    return {charge.limit->ordinal(), charge.limit->keyed() ? charge.key : Hash128{}, number};
}

} // namespace

Reserving::Reserving(
    routing::Charges& charges,
    const routing::KeyFacts& facts,
    std::string& scratch,
    const KeyHasher& seals)
    : charges_{charges}, seals_{seals} {
    for (std::size_t i = 0; i < charges.charges.size(); ++i) {
        const routing::KeyTemplate& reserve_for = charges.limits[i]->reserve_for;
        if (reserve_for.empty())
            continue;
        const auto [limit, counter, none] = slot_of(charges.charges[i], 0);
        reserving_.push_back(
            {.charge = i,
             .client = reserve_for.evaluate(facts, scratch).hash,
             .ticket = http::find_ticket(facts.fields, limit, counter, seals)});
    }
}

limits::Decision Reserving::admit(const Now& now, RateLimitHeaders* told) {
    std::array<limits::ChargeState, limits::max_charges> room;
    const auto states = std::span{room}.first(told != nullptr ? charges().size() : 0);
    limits::Decision decision =
        limits::admit_reserving(charges(), {reserving_.data(), reserving_.size()}, now, states);
    if (told != nullptr)
        told->note(
            charges(), {charges_.limits.data(), charges_.limits.size()}, states, decision, now);
    return decision;
}

limits::Decision Reserving::preview(const Now& now, std::span<limits::ChargeState> states) {
    return limits::preview_reserving(
        charges(), {reserving_.data(), reserving_.size()}, now, states);
}

void Reserving::add_tickets(LocalReply& reply) const {
    for (const limits::Reservation& each : reserving_)
        if (each.slot != 0)
            reply.add_ticket(slot_of(charges_.charges[each.charge], each.slot), seals_);
}

} // namespace stint::admission
