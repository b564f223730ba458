// Compiles a route's match, its edits of requests and responses, and its fixed response.
#pragma once

#include "base/fixed_answer.hpp"
#include "config/schema/schema.hpp"
#include "routing/route.hpp"
#include "routing/snapshot.hpp"

#include <memory>

namespace stint::runtime {

// Returns the changes that a route makes to requests and responses; nullptr if there are none.
// Combines the header edits of the upstream and the route; if both edit the same header, the
// route's edit applies.
[[nodiscard]] routing::RouteShapePtr
shape_of(const config::Config& config, const config::Route& route);

// Returns the response that a route sends itself; nullptr if it forwards to an upstream.
[[nodiscard]] std::shared_ptr<const FixedAnswer> answer_of(const config::Route& route);

[[nodiscard]] routing::UpstreamSpec::ProxyProtocol
proxy_protocol_of(const config::Upstream& upstream);
[[nodiscard]] routing::PathPattern path_of(const config::Match& match);

} // namespace stint::runtime
