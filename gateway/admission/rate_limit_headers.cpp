#include "admission/rate_limit_headers.hpp"

#include "limits/limit.hpp"

#include <boost/container/static_vector.hpp>

#include <cstddef>

namespace stint::admission {
namespace {

// The counters' states, one for each charge; never on the heap.
using States = boost::container::static_vector<limits::ChargeState, limits::max_charges>;

} // namespace

limits::Decision RateLimitHeaders::try_admit(const routing::Charges& admitted, const Now& now) {
    const std::span<const limits::Charge> charges = admitted.view();
    States states(charges.size());
    limits::Decision decision = limits::try_admit(charges, now, states);
    note(charges, {admitted.limits.data(), admitted.limits.size()}, states, decision, now);
    return decision;
}

void RateLimitHeaders::note_turn(
    std::span<const limits::Charge> charges,
    ChargedLimits limits,
    const limits::Decision& decision,
    const Now& now) {
    States states(charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i)
        states[i].counter = charges[i].limit->state_of(charges[i], now);
    if (!decision.allowed())
        states[decision.refused_by].refusal = decision.refusal;
    note(charges, limits, states, decision, now);
}

void RateLimitHeaders::note(
    std::span<const limits::Charge> charges,
    ChargedLimits limits,
    std::span<const limits::ChargeState> states,
    const limits::Decision& decision,
    const Now& now) {
    policies_.clear();
    policies_.reserve(charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const routing::RouteLimit& told = *limits[i].on_route;
        // A limit that is not enforced (dry run) promises the client nothing.
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
        // A limit that refuses reports 0 remaining: pacing or a full table refuses while the
        // counter has room.
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

http::PolicyFields RateLimitHeaders::fields(
    const routing::RateLimitHeaderSettings& telling, const Now& now) const noexcept {
    using Style = http::LegacyStyle;
    http::PolicyFields fields;
    fields.policies = {policies_.data(), policies_.size()};
    fields.legacy.prefix =
        telling.legacy_unprefixed ? Style::Prefix::ratelimit : Style::Prefix::x_ratelimit;
    fields.legacy.reset = telling.legacy_epoch ? Style::Reset::epoch : Style::Reset::delta;
    fields.now = now;
    return fields;
}

} // namespace stint::admission
