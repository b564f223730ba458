// How an upstream's requests are spread over its endpoints, and what becomes of endpoints that
// fail: the settings, and where the live state is. No decision is made here.
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

// Failures in a row that take an endpoint out for a while.
struct EjectionRules {
    std::uint32_t failures = 0; // 0: none is ever taken out
    Duration first{};           // for how long the first time; doubled each time after that
    Duration most{};
};

struct BalanceSpec {
    Balance how = Balance::round_robin;
    KeyTemplate hash_key; // of Balance::hash
    Duration slow_start{};
    EjectionRules ejection;
    bool fail_open = false; // with every endpoint out, ask those that failed all the same
    // Requests that may wait while every endpoint has as many as it may.
    std::uint32_t max_waiting = 0;
    Duration max_wait{};
    std::shared_ptr<upstream::EndpointGroup> group{}; // the workers'; nullptr: a worker's own
};

} // namespace stint::routing
