// The outcome of a request for logs and metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::observe {

enum class Outcome : std::uint8_t {
    forwarded,       // the upstream's response was forwarded
    refused,         // refused by a limit: 429; 403 if it denies such requests for ever; 412 by
                     // require_fence; or 503 by max_requests_in_flight
    rejected,        // a bad request: 400, 405, 431, …; or Max-Forwards: 0, also with 200
    no_route,        // no route matches: 404
    upstream_failed, // 502, 503, 504, or the upstream aborted its response
    cooling_down,    // refused during a pause that the upstream asked for: 429 or 503
    client_gone,     // the client left or stalled before the end: 499 or 408
    responded,       // answered by configuration: respond, redirect, redirect_http
};
inline constexpr std::size_t outcome_count = 8;
[[nodiscard]] std::string_view to_text(Outcome outcome) noexcept; // "forwarded", …

} // namespace stint::observe
