// Reads the upstream's own rate limits from its response, in any of the known dialects.
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace stint::http {

struct UpstreamRateLimit {
    std::uint64_t remaining = 0; // requests that the upstream would still take
    Duration reset{};            // time until the upstream takes more; at most 366 days
};

// Returns the tightest limit in the fields: the one that leaves the longest time between two
// requests. Returns nothing if the fields state no limit.
[[nodiscard]] std::optional<UpstreamRateLimit>
parse_upstream_rate_limit(std::span<const Field> fields, WallTime now) noexcept;

} // namespace stint::http
