// Shaping of heads and responses of Stint's own in a configuration, as JSON.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"

namespace stint::admin {

// Adds request and response, where they set or remove anything.
void add_shaping_json(const config::Shaping& shaping, const config::Config& config, Json& json);

// Adds the route's action (upstream, respond or redirect) and its changes of host, path and heads.
void add_action_json(const config::Config& config, const config::Route& route, Json& json);

// Returns the route's upstream, for its timeouts and cooldown; an empty one for a route that
// answers itself.
[[nodiscard]] const config::Upstream&
upstream_of(const config::Config& config, const config::Route& route);

} // namespace stint::admin
