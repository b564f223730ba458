// Limits that gateways share, in a configuration that has no key for it yet.
#pragma once

#include "limits/limit.hpp"
#include "routing/snapshot.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace stint::test {

// Shares the limits of these names, for proxied requests, checks and permits.
inline void share_limits(
    const routing::Snapshot& snapshot,
    std::initializer_list<std::string_view> names,
    const limits::SharedTerms& terms) {
    for (const routing::LimitTermsPtr& each : snapshot.limits)
        if (std::ranges::find(names, each->limit->identity().name) != names.end())
            const_cast<routing::LimitTerms&>(*each).shared = terms;
}

} // namespace stint::test
