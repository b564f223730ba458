// A request and its outcome, parsed from a line of an access log.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "runtime/synthetic_request.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace stint::simulate {

enum class LogFormat : std::uint8_t { stint, nginx, haproxy };

using FieldNames = std::set<std::string, std::less<>>; // header fields, in lower case

struct LoggedRequest {
    LogFormat format = LogFormat::stint;
    WallTime time{};                   // time at which the request's head was complete
    Duration duration{};               // without the time in a queue, in which it held no slots
    runtime::SyntheticRequest request; // with the header fields in the log
    std::string route;                 // the matched route; empty if none matched
    std::string limit;                 // the limit that refused the request; empty if none did
    std::string decision;
    int status = 0;
    // Header fields that every line of the log records: one that `request` lacks was not sent.
    // nullptr: none.
    const FieldNames* told = nullptr;
    bool whole_second = false; // `time` and the end are only known to the second
    bool tells_duration = true;
    bool has_captures = false; // captured header values whose names are not known

    // Returns true if the log tells the route and the limit, as only Stint's does.
    [[nodiscard]] bool tells_decision() const noexcept { return format == LogFormat::stint; }
    [[nodiscard]] bool tells_host() const noexcept {
        return format == LogFormat::stint || !request.host.empty();
    }
    // Returns true if the log tells this header field of the request, or that it was not sent.
    [[nodiscard]] bool tells(std::string_view field) const noexcept;
    [[nodiscard]] bool was_refused() const noexcept { return decision == "refused"; }
    // Returns true if the request was matched against the routes. Malformed requests are answered
    // before that; a request that could not be parsed has no method.
    [[nodiscard]] bool was_routed() const noexcept {
        return !request.method.empty() && (decision != "rejected" || status == 405);
    }
};

// Parses a time in RFC 3339 form, with or without a fraction of a second, with "Z" or an offset.
[[nodiscard]] Result<WallTime, std::string> parse_time(std::string_view text);

} // namespace stint::simulate
