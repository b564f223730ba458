// The upstream's own rate limits as its response states them, in any of the known dialects.
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace stint::http {

struct UpstreamRateLimit {
    std::uint64_t remaining = 0; // requests
    Duration reset{};            // until there are more; at most 366 days
};

// Returns the tightest limit in the fields: the limit that leaves the most time to each request.
[[nodiscard]] std::optional<UpstreamRateLimit>
parse_upstream_rate_limit(std::span<const Field> fields, WallTime now) noexcept;

} // namespace stint::http
