// Finds limits that may not both be enforced on one route, but would be with the operators'
// switches of `enforce`. Pure.
#pragma once

#include "config/schema/schema.hpp"
#include "runtime/limit_changes.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace stint::runtime {

// A limit that lets requests wait and one that reserves slots, both enforced on a route
// (config::queues_into_reserved_slots()). Indices into Config::routes and Config::limits.
struct EnforcedPair {
    std::size_t route = 0;
    std::size_t one = 0;
    std::size_t other = 0;
};

// Returns an element for each limit of the configuration: true if the file enforces it, or if an
// operator has switched `enforce` on. An operator's switch to off does not count, because it may
// end.
[[nodiscard]] std::vector<bool>
enforced_limits(const config::Config& config, const LimitChanges& changes);

// Returns every pair, in the order of the routes. enforced: an element for each limit, as returned
// by enforced_limits().
[[nodiscard]] std::vector<EnforcedPair>
enforced_pairs(const config::Config& config, const std::vector<bool>& enforced);

// Returns the error about a pair for the operator, with the names of the route and both limits.
[[nodiscard]] std::string reason_of(const EnforcedPair& pair, const config::Config& config);

} // namespace stint::runtime
