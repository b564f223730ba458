// Compiles a route's match, its edits of requests and responses, and its fixed answer.
#pragma once

#include "base/fixed_answer.hpp"
#include "config/schema/schema.hpp"
#include "routing/route.hpp"
#include "routing/snapshot.hpp"

#include <memory>

namespace stint::runtime {

// Returns null if nothing is changed. The edits of the upstream and the route are combined; for the
// same name the route's win.
[[nodiscard]] routing::RouteShapePtr
shape_of(const config::Config& config, const config::Route& route);

// Returns null for a route that leads to an upstream.
[[nodiscard]] std::shared_ptr<const FixedAnswer> answer_of(const config::Route& route);

[[nodiscard]] routing::UpstreamSpec::ProxyProtocol
proxy_protocol_of(const config::Upstream& upstream);
[[nodiscard]] routing::PathPattern path_of(const config::Match& match);

} // namespace stint::runtime
