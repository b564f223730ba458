#include "proxy/admission/limit_steps.hpp"

#include "http/local_reply.hpp"
#include "http/slot_ticket.hpp"
#include "limits/limit.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace stint::proxy {
namespace {

http::SlotName slot_of(const limits::Charge& charge, std::uint64_t number) noexcept {
    return {charge.limit->ordinal(), charge.limit->keyed() ? charge.key : Hash128{}, number};
}

} // namespace

limits::CooldownPtr cooldown_of(
    const routing::RouteCooldown& cooldown,
    const routing::KeyFacts& facts,
    std::string& scratch,
    SteadyTime now) {
    if (cooldown.key.empty()) {
        const std::string_view of =
            cooldown.by_host ? facts.host : std::string_view{cooldown.otherwise};
        return cooldown.set->of(facts.hasher(of), of, now);
    }
    const routing::Key key = cooldown.key.evaluate(facts, scratch);
    return cooldown.set->of(key.hash, key.text, now);
}

void count_exempt(
    observe::WorkerCounters& counters,
    const routing::Route& route,
    const routing::Charges& charges) {
    for (std::uint32_t left = charges.exempt; left != 0; left &= left - 1) {
        const auto first = static_cast<std::size_t>(std::countr_zero(left));
        ++counters.exempted[route.limits[first].refusal_metric];
    }
}

bool leave_out_paid(routing::Charges& charges, const limits::PrepaidPermits::Claim& permit) {
    bool pays = false;
    for (std::size_t i = charges.charges.size(); i-- > 0;) {
        const auto at = static_cast<std::ptrdiff_t>(i);
        limits::Charge& charge = charges.charges[i];
        const std::uint64_t paid = permit.paid_of(charge);
        pays = pays || paid > 0;
        charge.cost -= paid;
        if (charge.cost > 0)
            continue;
        charges.charges.erase(charges.charges.begin() + at);
        charges.limits.erase(charges.limits.begin() + at);
    }
    return pays;
}

std::string_view note_admission(
    observe::WorkerCounters& counters,
    const limits::Decision& decision,
    const routing::Charges& charges) {
    std::string_view first;
    for (std::size_t i = 0; i < charges.charges.size(); ++i) {
        const routing::RouteLimit& each = *charges.limits[i];
        const std::string& name = each.limit->identity().name;
        if ((decision.overflow_began >> i & 1U) != 0)
            spdlog::warn(
                "the table of the limit {} is full: new keys are counted together, and may be "
                "refused early; consider a larger max_keys",
                name);
        if ((decision.would_refuse >> i & 1U) == 0)
            continue;
        ++counters.would_refuse[each.refusal_metric];
        if (first.empty())
            first = name;
    }
    return first;
}

Duration
note_refusal(Context& context, const routing::RouteLimit& limit, const limits::Decision& decision) {
    ++context.counters.refusals[limit.refusal_metric];
    const Duration jitter = limit.answer.jitter;
    return jitter > Duration::zero()
               ? http::with_jitter(decision.retry_after, jitter, context.request_ids.next())
               : decision.retry_after;
}

Duration note_refusal(
    Context& context,
    const ActiveConfig& config,
    std::uint64_t recent,
    const routing::Charges& charges,
    const limits::Decision& decision) {
    const routing::RouteLimit& limit = *charges.limits[decision.refused_by];
    if (!limit.key.empty())
        config.heavy_hitters[limit.index]->refuse(charges.charges[decision.refused_by].key);
    context.recent.end(
        recent, RecentRequests::Kind::refused, limit.refusal_metric, decision.retry_after);
    return note_refusal(context, limit, decision);
}

void note_denial(Context& context, std::uint64_t recent, const routing::RouteLimit& limit) {
    ++context.counters.denied[limit.refusal_metric];
    context.recent.end(recent, RecentRequests::Kind::denied, limit.refusal_metric, {});
}

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
    const std::size_t count = charges_.view().size();
    const std::span<limits::Charge> charged{charges_.charges.data(), count};
    std::array<limits::ChargeState, limits::max_charges> room;
    const auto states = std::span{room}.first(told != nullptr ? count : 0);
    limits::Decision decision =
        limits::admit_reserving(charged, {reserving_.data(), reserving_.size()}, now, states);
    if (told != nullptr)
        told->note(charged, {charges_.limits.data(), count}, states, decision, now);
    return decision;
}

void Reserving::add_tickets(LocalReply& reply) const {
    for (const limits::Reservation& each : reserving_)
        if (each.slot != 0)
            reply.add_ticket(slot_of(charges_.charges[each.charge], each.slot), seals_);
}

} // namespace stint::proxy
