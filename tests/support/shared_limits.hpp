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
    const auto share = [&](const routing::RouteLimit& limit) {
        if (std::ranges::find(names, limit.limit->identity().name) != names.end())
            const_cast<routing::RouteLimit&>(limit).shared = terms;
    };
    for (const routing::Route& route : snapshot.routes.routes())
        std::ranges::for_each(route.limits, share);
    if (snapshot.permits)
        std::ranges::for_each(snapshot.permits->limits, share);
}

} // namespace stint::test
