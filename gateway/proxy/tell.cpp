// What responses say about the limits of their route.
#include "limits/limit.hpp"
#include "proxy/exchange.hpp"

#include <array>
#include <cstddef>

namespace stint::proxy {

limits::Decision Exchange::admit_and_note(const routing::Charges& admitted) {
    const std::span<const limits::Charge> charges = admitted.view();
    std::array<limits::ChargeState, limits::max_charges> room;
    const auto states = std::span{room}.first(charges.size());
    limits::Decision decision = limits::admit(charges, decided_, states);
    note_policies(
        charges, {admitted.limits.data(), admitted.limits.size()}, states, decision, decided_);
    return decision;
}

// Of a request that may have waited: as the counters are by now.
void Exchange::note_policies_of_turn(
    std::span<const limits::Charge> charges,
    ChargedLimits limits,
    const limits::Decision& decision,
    const Now& now) {
    if (!route_->telling.any)
        return;
    std::array<limits::ChargeState, limits::max_charges> room;
    const auto states = std::span{room}.first(charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i)
        states[i].counter = charges[i].limit->state_of(charges[i], now);
    if (!decision.allowed())
        states[decision.refused_by].refusal = decision.refusal;
    note_policies(charges, limits, states, decision, now);
}

void Exchange::note_policies(
    std::span<const limits::Charge> charges,
    ChargedLimits limits,
    std::span<const limits::ChargeState> states,
    const limits::Decision& decision,
    const Now& now) {
    policies_.clear();
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const routing::RouteLimit& told = *limits[i];
        // One that only counts promises nothing and refuses nothing.
        if (!(told.told_in_draft || told.told_in_legacy) || !charges[i].enforce)
            continue;
        const limits::Limit& limit = *charges[i].limit;
        const limits::CounterState& counter = states[i].counter;
        http::PolicyState& policy = policies_.emplace_back();
        policy.name = limit.identity().name;
        policy.quota = charges[i].quota;
        policy.remaining = counter.remaining;
        policy.window = limit.identity().per;
        policy.more_at = now.steady + counter.resets_in;
        // A pace or a full table refuses although the counter has room.
        if (states[i].refusal != limits::Refusal::none &&
            states[i].refusal != limits::Refusal::cost) {
            policy.remaining = 0;
            if (decision.refused_by == i)
                policy.more_at = now.steady + decision.retry_after;
        }
        policy.keyed = limit.keyed();
        policy.partition = http::partition_of(charges[i].key);
        policy.draft = told.told_in_draft;
        policy.legacy = told.told_in_legacy;
    }
}

http::PolicyFields Exchange::policy_fields(SteadyTime at) const noexcept {
    http::PolicyFields fields;
    fields.policies = {policies_.data(), policies_.size()};
    if (route_ != nullptr) {
        using Style = http::LegacyStyle;
        const routing::PolicyTelling& telling = route_->telling;
        fields.legacy.prefix =
            telling.legacy_unprefixed ? Style::Prefix::ratelimit : Style::Prefix::x_ratelimit;
        fields.legacy.reset = telling.legacy_epoch ? Style::Reset::epoch : Style::Reset::delta;
    }
    fields.now = {at, wall_at(at)};
    return fields;
}

// The head is written already, behind what the upstream says of its own limits.
void Exchange::tell_policies(const ResponseHead& head) {
    context_.head_out.reopen();
    http::write_policy_fields(context_.head_out, policy_fields(answered_), head.fields);
    context_.head_out << "\r\n";
}

} // namespace stint::proxy
