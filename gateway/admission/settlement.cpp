#include "admission/settlement.hpp"

#include "limits/limit.hpp"

#include <algorithm>

namespace stint::admission {

void Settlement::expect(const routing::Charges& charges, std::size_t first) {
    for (std::size_t i = 0; i < charges.charges.size(); ++i) {
        const routing::Pricing& pricing = charges.limits[i]->pricing;
        if (!pricing.refundable())
            continue;
        const bool told = !pricing.response_field.empty();
        priced_.push_back(
            {charges.limits[i], first + i, told ? pricing.cost - charges.charges[i].cost : 0});
    }
}

void Settlement::settle(
    const ResponseHead& head, limits::Permit& permit, Callbacks& callbacks, const Now& now) {
    for (const Priced& each : priced_) {
        const routing::Pricing& pricing = each.limit->pricing;
        if (pricing.response_field.empty())
            continue;
        const auto cost = routing::cost_in(head.fields, pricing.response_field);
        if (!cost)
            continue;
        permit.settle(each.index, *cost - std::min(*cost, each.paid), now);
        if (*cost > pricing.cost) {
            callbacks.cost_exceeded(each.limit);
            if (overrun_.empty())
                overrun_ = each.limit->limit->identity().name;
        }
    }
    settle_by_status(head.status, permit, now);
    permit.notify_waiters();
}

void Settlement::settle_by_status(int status, limits::Permit& permit, const Now& now) {
    settled_ = true;
    for (const Priced& each : priced_) {
        const routing::Pricing& pricing = each.limit->pricing;
        const bool counts =
            pricing.count_when.empty() || routing::contains(pricing.count_when, status);
        if (!counts || routing::contains(pricing.refund, status))
            permit.refund(each.index, now);
    }
}

void Settlement::settle_end(int status, limits::Permit& permit, const Now& now) {
    if (!settled_)
        settle_by_status(status, permit, now);
}

} // namespace stint::admission
