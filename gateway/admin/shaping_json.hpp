// What a configuration changes of heads and answers itself, as JSON.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"

namespace stint::admin {

// Adds request and response, where they set or remove anything.
void add_shaping_json(const config::Shaping& shaping, Json& json);

// Adds who answers the route, its upstream, respond or redirect, and what it does to host and path.
void add_action_json(const config::Config& config, const config::Route& route, Json& json);

// The upstream's time-outs and cooldown; those of none for a route that answers itself.
[[nodiscard]] const config::Upstream&
upstream_of(const config::Config& config, const config::Route& route);

} // namespace stint::admin
