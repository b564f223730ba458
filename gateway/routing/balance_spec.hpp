// The load balancing and outlier ejection of an upstream: the settings, and pointers to the live
// state. No decision is made here.
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

// Consecutive failures that eject an endpoint for a while.
struct EjectionRules {
    std::uint32_t failures = 0; // 0: no endpoint is ever ejected
    Duration first{};           // duration of the first ejection; doubled for each after that
    Duration most{};
};

struct BalanceSpec {
    Balance how = Balance::round_robin;
    KeyTemplate hash_key; // for Balance::hash
    Duration slow_start{};
    EjectionRules ejection;
    bool fail_open = false; // with every endpoint ejected, use the ejected ones
    // The most queued requests while every endpoint has reached max_requests.
    std::uint32_t max_waiting = 0;
    Duration max_wait{};
    std::shared_ptr<upstream::EndpointGroup> group{}; // shared by workers; nullptr: one worker's
};

} // namespace stint::routing
