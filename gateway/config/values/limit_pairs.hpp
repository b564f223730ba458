// Limits that may not be on one route.
#pragma once

#include "config/schema/schema.hpp"

namespace stint::config {

// True if one of the two lets requests wait and the other reserves slots: were both enforced on one
// route, a request from the queue would be admitted into a slot that is reserved for another
// client.
[[nodiscard]] inline bool queues_into_reserved_slots(const Limit& a, const Limit& b) {
    return (a.wait && !b.reserve_for.empty()) || (b.wait && !a.reserve_for.empty());
}

// True if gateways share one of the two and the other reserves slots: a request that is admitted
// into its slot would have to wait for the store while its slot passes.
[[nodiscard]] inline bool shares_beside_reserved_slots(const Limit& a, const Limit& b) {
    return (a.shared && !b.reserve_for.empty()) || (b.shared && !a.reserve_for.empty());
}

} // namespace stint::config
