// The policy of a shared limit whose store does not answer.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"

#include <chrono>
#include <cstdint>

namespace stint::limits {

enum class OnStoreFailure : std::uint8_t {
    share,  // the share that this process has of the key (Limit::share), else the reserve
    strict, // the share, else nothing is admitted
    open,   // everything is admitted, and not counted
    closed  // nothing is admitted
};

// A limit that gateways share, as its configuration says.
struct SharedTerms {
    OnStoreFailure on_failure = OnStoreFailure::share;
    Numbers reserve{}; // for `share`: what this process may always use; 0 = nothing
    Duration timeout = std::chrono::milliseconds{20}; // the wait for an answer
};

} // namespace stint::limits
