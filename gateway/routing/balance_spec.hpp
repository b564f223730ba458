// The configured load balancing and outlier ejection of an upstream, with pointers to the live
// state. The decisions are made elsewhere (upstream/).
#pragma once

#include "base/time.hpp"
#include "routing/key_template.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace stint::upstream {
class EndpointGroup; // upstream/endpoint_group.hpp
class EndpointState; // upstream/endpoint_state.hpp
} // namespace stint::upstream

namespace stint::routing {

enum class Balance : std::uint8_t { round_robin, least_requests, hash };

// Outlier ejection: consecutive failures eject an endpoint for a while.
struct EjectionRules {
    std::uint32_t failures = 0; // 0: no endpoint is ever ejected
    Duration first{};           // duration of the first ejection; each following one doubles it
    Duration most{};
};

struct BalanceSpec {
    Balance how = Balance::round_robin;
    KeyTemplate hash_key; // for Balance::hash
    Duration slow_start{};
    EjectionRules ejection;
    bool fail_open = false; // true: while no endpoint is up, uses all that are not drained
    // The most requests that may queue while every endpoint has reached max_requests.
    std::uint32_t max_waiting = 0;
    Duration max_wait{};
    // Shared by the workers; nullptr: each worker has its own.
    std::shared_ptr<upstream::EndpointGroup> group{};
};

} // namespace stint::routing
