// Compiles an upstream's load balancing and retry rules for its workers. Internal to compile.cpp.
#pragma once

#include "config/schema/schema.hpp"
#include "routing/balance_spec.hpp"
#include "routing/retry_rules.hpp"
#include "upstream/endpoint_group.hpp"

namespace stint::runtime {

// endpoints: the live state of endpoints over reloads; with nullptr the upstream starts with new
// state.
[[nodiscard]] routing::BalanceSpec balance_of(
    const config::Upstream& upstream,
    const config::AddressPrefixes& prefixes,
    upstream::EndpointRegistry* endpoints);

// Returns the route's own retry rules, or those of its upstream if the route has none.
[[nodiscard]] routing::RetryRules
retry_of(const config::Upstream& upstream, const config::Route& route);

} // namespace stint::runtime
