// Parses Retry-After as an upstream sends it (RFC 9110 section 10.2.3), and HTTP dates.
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string_view>

namespace stint::http {

// Parses an HTTP-date in any of its three forms (RFC 9110 section 5.6.7): IMF-fixdate, the one of
// RFC 850 (whose two-digit year is the one at most 50 years after `now`), and asctime's. A wrong
// day name is accepted.
[[nodiscard]] std::optional<WallTime> parse_http_date(std::string_view text, WallTime now) noexcept;

// Returns the sender's current time: its Date, if that is within a day of `now`, else `now`. Times
// in the sender's fields are to be compared with this time.
[[nodiscard]] WallTime http_reference_time(std::span<const Field> fields, WallTime now) noexcept;

// Longest time that a field of an upstream's response may state; longer times count as this.
inline constexpr Duration longest_announced = std::chrono::days{366};

// Returns the time for which a response asks its client to wait, from `now` on; never negative.
//  - Seconds of any number of digits; anything above longest_announced is longest_announced.
//  - A date counts from the response's own Date, if that is within a day of `now`: the upstream's
//    clock, not ours, has measured it. Else from `now`. A date that has passed is zero.
// If there are several Retry-After fields, the longest time holds. A field that is neither seconds
// nor a date is skipped. Without a valid field the result is empty: the gateway never invents a
// time.
[[nodiscard]] std::optional<Duration>
parse_retry_after(std::span<const Field> fields, WallTime now) noexcept;

} // namespace stint::http
