// The policy of a shared limit whose store does not answer.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"

#include <chrono>
#include <cstdint>

namespace stint::limits {

enum class OnStoreFailure : std::uint8_t {
    share,  // admits up to this process's share of the key (Limit::share), else up to the reserve
    strict, // admits up to the share; without a share admits nothing
    open,   // admits everything, without counting
    closed  // admits nothing
};

// The configuration of a limit that gateways share.
struct SharedTerms {
    OnStoreFailure on_failure = OnStoreFailure::share;
    Numbers reserve{}; // for `share`: what this process may always use; 0 = nothing
    Duration timeout = std::chrono::milliseconds{20}; // longest wait for the store's answer
};

} // namespace stint::limits
