// A request and its outcome, parsed from a line of Stint's access log.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "runtime/synthetic_request.hpp"

#include <string>
#include <string_view>

namespace stint::simulate {

struct LoggedRequest {
    WallTime time{};                   // time at which the request's head was complete
    Duration duration{};               // without the time in a queue, in which it held no slots
    runtime::SyntheticRequest request; // with the header fields in the log
    std::string route;                 // the matched route; empty if none matched
    std::string limit;                 // the limit that refused the request; empty if none did
    std::string decision;
    int status = 0;

    [[nodiscard]] bool was_refused() const noexcept { return decision == "refused"; }
    // Returns true if the request was matched against the routes. Malformed requests are answered
    // before that; unparsable ones have no method.
    [[nodiscard]] bool was_routed() const noexcept {
        return !request.method.empty() && (decision != "rejected" || status == 405);
    }
};

// Parses a line of the log. The error is a human-readable description of the fault.
[[nodiscard]] Result<LoggedRequest, std::string> parse_line(std::string_view line);

// Parses a time in RFC 3339 form, with or without a fraction of a second, with "Z" or an offset.
[[nodiscard]] Result<WallTime, std::string> parse_time(std::string_view text);

} // namespace stint::simulate
