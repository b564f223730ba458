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
// (config::queues_into_reserved_slots()). All are indices into the configuration.
struct EnforcedPair {
    std::size_t route = 0;
    std::size_t one = 0;
    std::size_t other = 0;
};

// Returns for each limit of the configuration if it is enforced, or is once a switch has ended.
[[nodiscard]] std::vector<bool>
enforced_limits(const config::Config& config, const LimitChanges& changes);

// Returns every pair, in the order of the routes. enforced: for each limit.
[[nodiscard]] std::vector<EnforcedPair>
enforced_pairs(const config::Config& config, const std::vector<bool>& enforced);

// Returns the reason why the pair may not be, for the operator.
[[nodiscard]] std::string reason_of(const EnforcedPair& pair, const config::Config& config);

} // namespace stint::runtime
