// Compiles a limit of the configuration for its registry and its routes. Internal to compile.cpp.
#pragma once

#include "runtime/compile.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace stint::runtime {

[[nodiscard]] routing::KeyTemplate key_of(
    const std::vector<config::KeySource>& key,
    const config::AddressPrefixes& prefixes,
    routing::MissingPart missing_part = routing::MissingPart::loses_key);

[[nodiscard]] ConfiguredLimit
configured_limit(const config::Limit& limit, limits::Registry& registry);

// Compiles the limit for one route. index: the limit's index in Compiled::limits.
[[nodiscard]] routing::RouteLimit route_limit_of(
    const config::Limit& limit,
    const ConfiguredLimit& configured,
    std::size_t index,
    const std::string& route,
    observe::MetricSlots& slots);

} // namespace stint::runtime
