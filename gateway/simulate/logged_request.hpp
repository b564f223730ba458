// One line of Stint's access log, read back: what the request was and what became of it.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "runtime/synthetic_request.hpp"

#include <string>
#include <string_view>

namespace stint::simulate {

struct LoggedRequest {
    WallTime time{}; // when its head had arrived
    Duration duration{};
    runtime::SyntheticRequest request; // with the fields that the log carries
    std::string route;                 // that took it; empty where none did
    std::string limit;                 // that refused it
    std::string decision;
    int status = 0;

    [[nodiscard]] bool was_refused() const noexcept { return decision == "refused"; }
    // Whether it came as far as the routes: what is malformed is answered before, and what could
    // not be read as a request has no method.
    [[nodiscard]] bool was_routed() const noexcept {
        return !request.method.empty() && (decision != "rejected" || status == 405);
    }
};

// The error says what is wrong with the line, for people.
[[nodiscard]] Result<LoggedRequest, std::string> parse_line(std::string_view line);

// RFC 3339, with or without a fraction of a second, "Z" or an offset.
[[nodiscard]] Result<WallTime, std::string> parse_time(std::string_view text);

} // namespace stint::simulate
