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

// Returns the tightest limit in the fields: the one that leaves the most time to each request.
// Reads
//  - RateLimit as in draft-ietf-httpapi-ratelimit-headers-11, with RateLimit-Policy for the unit
//    (policies that count anything but requests are skipped), and as in its versions 07
//    ("limit=9, remaining=1, reset=7") and 08 to 09 (a token instead of a string);
//  - RateLimit-Remaining and RateLimit-Reset of the versions up to 06;
//  - X-RateLimit-Remaining and X-RateLimit-Reset, also spelt X-Rate-Limit-.
// A reset of 10^9 or more is Unix time in seconds, one of 10^12 or more in milliseconds; it counts
// from the response's Date as a Retry-After does. Decimals are rounded up. Fields that are
// malformed or state only one half are skipped. now: by the wall clock.
[[nodiscard]] std::optional<UpstreamRateLimit>
parse_upstream_rate_limit(std::span<const Field> fields, WallTime now) noexcept;

} // namespace stint::http
