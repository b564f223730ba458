// Finds the limits of a configuration that its routes use.
#pragma once

#include "config/schema/schema.hpp"

#include <cstddef>
#include <vector>

namespace stint::config {

// Returns an element for each limit, with the index of Config::limits: true if at least one route
// uses the limit. O(limits + routes).
[[nodiscard]] inline std::vector<bool> limits_of_routes(const Config& config) {
    std::vector<bool> used(config.limits.size());
    for (const Route& route : config.routes)
        for (const std::size_t limit : route.limits)
            used[limit] = true;
    return used;
}

} // namespace stint::config
