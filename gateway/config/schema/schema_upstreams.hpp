// How an upstream's requests are spread over its endpoints, and how endpoints are looked after; a
// part of schema.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::config {

// What an upstream may have.
inline constexpr std::size_t most_endpoints = 64;

// Failures in a row that take an endpoint out for a while.
struct Ejection {
    std::uint32_t failures = 5;
    std::chrono::milliseconds first{10'000};
    std::chrono::milliseconds most{300'000};
};

// Requests of Stint's own that ask an endpoint how it is.
struct HealthCheck {
    std::string path; // with a query, if it has one
    std::chrono::milliseconds interval{5'000};
    std::chrono::milliseconds timeout{2'000};
    std::uint32_t healthy_after = 2; // in a row, as the next
    std::uint32_t unhealthy_after = 3;
    struct Statuses {
        std::uint16_t first = 200;
        std::uint16_t last = 299;
        friend bool operator==(const Statuses&, const Statuses&) = default;
    };
    std::vector<Statuses> expect{Statuses{}};

    friend bool operator==(const HealthCheck&, const HealthCheck&) = default;
};

// What becomes of requests while every endpoint has as many as it may.
struct EndpointQueue {
    std::uint32_t max_waiting = 100;
    std::chrono::milliseconds max_wait{1'000};
};

// Which requests that have failed are sent once more.
struct Retry {
    bool on = true; // false: a route's `retry: off`
    // What has to have happened.
    bool connect = true; // no connection, TLS included
    bool reset = true;   // it ended before the answer's head
    std::vector<std::uint16_t> statuses{502, 503, 504};
    std::uint32_t attempts = 2; // how often a request is sent at most; 2 to 10
    std::uint32_t budget = 20;  // percent of the requests that retries may add; 1 to 100
    std::vector<std::string> methods{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
};

struct LoadBalance {
    enum class How : std::uint8_t { round_robin, least_requests, hash };
    How how = How::round_robin;
    std::chrono::milliseconds slow_start{0}; // 0 = off
    std::optional<Ejection> ejection{Ejection{}};
    std::optional<HealthCheck> health;
    bool fail_open = false; // when_all_down
    EndpointQueue queue;
};

} // namespace stint::config
