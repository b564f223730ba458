// One line of Stint's access log, read back: the request and its outcome.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "runtime/synthetic_request.hpp"

#include <string>
#include <string_view>

namespace stint::simulate {

struct LoggedRequest {
    WallTime time{};                   // when its head had arrived
    Duration duration{};               // without the time that it waited: it held no slots then
    runtime::SyntheticRequest request; // with the fields that the log carries
    std::string route;                 // the matched route; empty if none matched
    std::string limit;                 // the limit that refused it
    std::string decision;
    int status = 0;

    [[nodiscard]] bool was_refused() const noexcept { return decision == "refused"; }
    // True if the request reached the routes: a malformed one is answered before, and one that
    // could not be parsed has no method.
    [[nodiscard]] bool was_routed() const noexcept {
        return !request.method.empty() && (decision != "rejected" || status == 405);
    }
};

// Parses a line. The error describes the fault in the line, for people.
[[nodiscard]] Result<LoggedRequest, std::string> parse_line(std::string_view line);

// Parses RFC 3339, with or without a fraction of a second, "Z" or an offset.
[[nodiscard]] Result<WallTime, std::string> parse_time(std::string_view text);

} // namespace stint::simulate
