// The parts of requests that keys of a configuration read.
#pragma once

#include "config/schema/schema.hpp"

#include <vector>

namespace stint::config {

// Returns all that the limit's keys read: those of its counters, its queue and its slots.
[[nodiscard]] inline std::vector<KeySource> key_sources(const Limit& limit) {
    std::vector<KeySource> all = limit.key;
    all.insert(all.end(), limit.reserve_for.begin(), limit.reserve_for.end());
    if (limit.wait)
        all.insert(all.end(), limit.wait->fair_by.begin(), limit.wait->fair_by.end());
    return all;
}

} // namespace stint::config
