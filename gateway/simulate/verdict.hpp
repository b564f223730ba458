// The outcome of a request: by the log, or simulated.
#pragma once

#include "base/time.hpp"
#include "simulate/logged_request.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stint::simulate {

struct Verdict {
    enum class Kind : std::uint8_t { admitted, refused, unrouted };
    Kind kind = Kind::unrouted;
    std::string route{}; // empty: no route matches
    std::string limit{}; // the limit that refuses
    std::string key{};   // the limit's, as text; empty without one
    // True if an admitted request's end matters too, as it holds slots of caps or may be refunded.
    bool end_matters = false;
    // Limits that were skipped: they read a field that is not in the log.
    std::vector<std::string> undecided{};
    Duration waited{}; // in the admission queue
};

// Returns the actual outcome, by the log.
[[nodiscard]] Verdict verdict_of_log(const LoggedRequest& request);

} // namespace stint::simulate
