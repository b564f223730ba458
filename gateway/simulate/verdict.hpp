// The outcome of a request, simulated or taken from the log.
#pragma once

#include "base/time.hpp"
#include "simulate/logged_request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::simulate {

struct Verdict {
    enum class Kind : std::uint8_t { admitted, refused, unrouted };
    Kind kind = Kind::unrouted;
    std::string route{}; // name of the matching route; empty if none
    std::string limit{}; // name of the refusing limit; empty if admitted
    // Text of the limit's key: empty if the request has none; nullopt if the limit counts by none.
    std::optional<std::string> key{};
    // True if the request is admitted and its end has an effect: it holds slots of concurrency
    // limits, or may be refunded.
    bool end_matters = false;
    // Names of limits that were skipped, because they read a field that the log may have omitted.
    std::vector<std::string> undecided{};
    Duration waited{};       // time in the admission queue
    bool tells_route = true; // false: taken from a log that has no routes
};

// Returns the outcome of a request as recorded in the log.
[[nodiscard]] Verdict verdict_of_log(const LoggedRequest& request);

} // namespace stint::simulate
