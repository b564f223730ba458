// The identity of a route's pauses across reloads.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/cooldown/cooldown_set.hpp"

#include <optional>

namespace stint::runtime {

// The `cooldown` section that a route obeys, and the set of pauses that it takes part in.
struct RoutePauses {
    const config::Cooldown* settings; // the section of the route or of its upstream
    limits::CooldownIdentity identity;
};

// Returns nullopt if the route has no cool-down. With scope: host, all routes of the upstream share
// the set. With scope: route, the route has its own. With scope: key, the set belongs to the route
// or the upstream, whichever has the `cooldown` section.
[[nodiscard]] std::optional<RoutePauses>
pauses_of(const config::Config& config, const config::Route& route);

} // namespace stint::runtime
