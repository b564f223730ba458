// Load balancing, health checks, ejection, retries and queues of an upstream's endpoints; a part of
// schema.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::config {

// Maximum number of endpoints of one upstream.
inline constexpr std::size_t most_endpoints = 64;

// Ejection of an endpoint after `failures` consecutive failures: at first for `first`, longer with
// each further ejection, at most for `most`.
struct Ejection {
    std::uint32_t failures = 5;
    std::chrono::milliseconds first{10'000};
    std::chrono::milliseconds most{300'000};
};

// Active health checks: requests that Stint itself sends to each endpoint.
struct HealthCheck {
    std::string path; // path with optional query
    std::chrono::milliseconds interval{5'000};
    std::chrono::milliseconds timeout{2'000};
    std::uint32_t healthy_after = 2; // consecutive successes until healthy
    std::uint32_t unhealthy_after = 3;
    struct Statuses {
        std::uint16_t first = 200;
        std::uint16_t last = 299;
        friend bool operator==(const Statuses&, const Statuses&) = default;
    };
    std::vector<Statuses> expect{Statuses{}};

    friend bool operator==(const HealthCheck&, const HealthCheck&) = default;
};

// The queue of requests while every endpoint is at max_requests.
struct EndpointQueue {
    std::uint32_t max_waiting = 100;
    std::chrono::milliseconds max_wait{1'000};
};

// Conditions and bounds of retries.
struct Retry {
    bool on = true; // false for `retry: off`
    // Failures that allow a retry.
    bool connect = true; // no connection, or a failed TLS handshake
    bool reset = true;   // the connection ended before the response's head
    std::vector<std::uint16_t> statuses{502, 503, 504};
    std::uint32_t attempts = 2; // maximum of attempts per request, the first included
    std::uint32_t budget = 20;  // maximum of retries, in percent of recent requests
    std::vector<std::string> methods{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
};

struct LoadBalance {
    enum class How : std::uint8_t { round_robin, least_requests, hash };
    How how = How::round_robin;
    std::chrono::milliseconds slow_start{0}; // 0 = off
    std::optional<Ejection> ejection{Ejection{}};
    std::optional<HealthCheck> health;
    bool fail_open = false; // when_all_down: fail_open
    EndpointQueue queue;
};

} // namespace stint::config
