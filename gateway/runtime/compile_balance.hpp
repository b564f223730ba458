// How an upstream's requests are spread, and sent once more, as its workers need it. Internal to
// compile.cpp.
#pragma once

#include "config/schema/schema.hpp"
#include "routing/balance_spec.hpp"
#include "routing/retry_rules.hpp"
#include "upstream/endpoint_group.hpp"

namespace stint::runtime {

// endpoints: where the upstream's live state is found; nullptr: it begins anew.
[[nodiscard]] routing::BalanceSpec balance_of(
    const config::Upstream& upstream,
    const config::AddressPrefixes& prefixes,
    upstream::EndpointRegistry* endpoints);

// The route's own rules, or those of its upstream.
[[nodiscard]] routing::RetryRules
retry_of(const config::Upstream& upstream, const config::Route& route);

} // namespace stint::runtime
