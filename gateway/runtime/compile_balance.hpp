// How an upstream's requests are spread, as its workers need it. Internal to compile.cpp.
#pragma once

#include "config/schema.hpp"
#include "routing/balance_spec.hpp"
#include "upstream/endpoint_group.hpp"

namespace stint::runtime {

// endpoints: where the upstream's live state is found; nullptr: it begins anew.
[[nodiscard]] routing::BalanceSpec balance_of(
    const config::Upstream& upstream,
    const config::AddressPrefixes& prefixes,
    upstream::EndpointRegistry* endpoints);

} // namespace stint::runtime
