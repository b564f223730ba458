// A limit's specification as plain values: a rate limit by windows or a token bucket, or a
// concurrency limit (a "cap").
#pragma once

#include "base/time.hpp"
#include "base/time_zone.hpp"

#include <cstdint>
#include <string>

namespace stint::limits {

enum class Algorithm : std::uint8_t { fixed_window, sliding_window, token_bucket, concurrency };

// The begin of a window: the first request after the previous window (first_request), or an instant
// of the wall clock (clock): a multiple of its length since the Unix epoch, or a calendar's day,
// week or month.
enum class Anchor : std::uint8_t { first_request, clock };

// A limit's identity across reloads: counts belong to an identity, numbers to a configuration.
// `key` is the canonical text of the key ("" = one counter for all).
struct LimitIdentity {
    std::string name;
    std::string key;
    Algorithm algorithm = Algorithm::fixed_window;
    Anchor anchor = Anchor::first_request; // clock: for a fixed window only
    Duration per{}; // zero for a cap; for calendar windows the longest day, week or month
    // Anchor::clock: windows are the days, weeks or months of this zone; empty: windows begin at
    // multiples of `per`.
    std::string time_zone{};
    CalendarUnit unit = CalendarUnit::day;
    std::string store{}; // the store of a limit that gateways share; empty: none

    friend auto operator<=>(const LimitIdentity&, const LimitIdentity&) = default;
};

struct LimitSpec {
    LimitIdentity identity;
    std::uint64_t quota = 0;            // requests per window, or the most in flight; at least 1
    std::uint64_t max_keys = 1'000'000; // the most live keys; only for a keyed limit
};

} // namespace stint::limits
