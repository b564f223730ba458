// What a request costs its limits, and what of that is given back once its answer is known.
#include "limits/limit.hpp"
#include "proxy/exchange.hpp"

#include <spdlog/spdlog.h>

namespace stint::proxy {

void Exchange::note_returnable(const routing::Charges& charges) {
    for (std::size_t i = 0; i < charges.charges.size(); ++i)
        if (charges.charges[i].returnable)
            priced_.push_back({charges.limits[i], i});
}

void Exchange::note_admission(const limits::Decision& decision, const routing::Charges& charges) {
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
        ++context_.counters.would_refuse[each.refusal_metric];
        if (would_refuse_.empty())
            would_refuse_ = name;
    }
}

// With the answer's head its cost is known, and whether it counts at all. An answer that does not
// tell its cost has cost what was reserved.
void Exchange::settle(const ResponseHead& head) {
    const Now now{answered_, begun_.wall};
    for (const Priced& each : priced_) {
        const routing::Pricing& pricing = each.limit->pricing;
        if (pricing.response_field.empty())
            continue;
        const auto cost = routing::cost_in(head.fields, pricing.response_field);
        if (!cost)
            continue;
        permit_.settle(each.index, *cost, now);
        if (*cost > pricing.cost) {
            ++context_.counters.overruns[each.limit->refusal_metric];
            if (overrun_.empty())
                overrun_ = each.limit->limit->identity().name;
        }
    }
    settle_by_status(now);
}

void Exchange::settle_by_status(const Now& now) {
    settled_ = true;
    for (const Priced& each : priced_) {
        const routing::Pricing& pricing = each.limit->pricing;
        const bool counts =
            pricing.count_when.empty() || routing::contains(pricing.count_when, status_);
        if (!counts || routing::contains(pricing.refund, status_))
            permit_.refund(each.index, now);
    }
}

// A request that no upstream has answered ends with the status that the log shows: 499 for a client
// that has left, 502 or 504 for an upstream that failed.
void Exchange::settle_end(const Now& now) {
    if (!settled_)
        settle_by_status(now);
}

} // namespace stint::proxy
