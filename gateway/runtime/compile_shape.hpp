// What a route matches, what it changes of its requests and responses, and what it answers itself.
#pragma once

#include "base/fixed_answer.hpp"
#include "config/schema/schema.hpp"
#include "routing/route.hpp"
#include "routing/snapshot.hpp"

#include <memory>

namespace stint::runtime {

// Null where nothing is changed. What the upstream and the route set and remove adds up; of the
// same name the route's counts.
[[nodiscard]] routing::RouteShapePtr
shape_of(const config::Config& config, const config::Route& route);

// Null for a route that leads to an upstream.
[[nodiscard]] std::shared_ptr<const FixedAnswer> answer_of(const config::Route& route);

[[nodiscard]] routing::UpstreamSpec::ProxyProtocol
proxy_protocol_of(const config::Upstream& upstream);
[[nodiscard]] routing::PathPattern path_of(const config::Match& match);

} // namespace stint::runtime
