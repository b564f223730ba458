// Counters as each worker keeps them (plain integers, no atomics) and as Prometheus reads them.
#pragma once

#include "base/time.hpp"
#include "observe/access_log.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::observe {

// Bounds in seconds of the upstream latency histogram; a last bucket takes the rest.
inline constexpr std::array latency_bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                              0.05,   0.1,   0.25,   0.5,   1.0,  2.5,
                                              5.0,    10.0,  30.0,   60.0};

struct Histogram {
    std::array<std::uint64_t, latency_bounds.size() + 1> buckets{}; // not cumulative
    double sum_seconds = 0;
    void observe(Duration duration) noexcept;
};

struct RouteCounters {
    // [outcome][status / 100]; class 0 = no answer was sent
    std::array<std::array<std::uint64_t, 6>, outcome_count> requests{};
    std::uint64_t in_flight = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
};

struct UpstreamCounters {
    Histogram latency;
    std::uint64_t connects = 0;
    std::uint64_t connect_failures = 0;
    std::uint64_t reused = 0;
    std::uint64_t retries = 0;
    std::uint64_t retries_over_budget = 0;
    std::uint64_t idle = 0; // pooled connections now
    // Requests in flight. Used if the upstream has a single endpoint, whose requests nothing else
    // counts.
    std::uint64_t in_flight = 0;
};

// Counters of a limit that lets requests wait.
struct WaitCounters {
    Histogram time;            // wait of the requests that were then admitted
    std::uint64_t refused = 0; // after they had waited
};

// One worker's counters. Owned and written by that worker's thread alone; a scrape copies them
// there.
struct WorkerCounters {
    std::vector<RouteCounters> routes;       // by MetricSlots::route
    std::vector<std::uint64_t> refusals;     // by MetricSlots::refusal
    std::vector<std::uint64_t> denied;       // by MetricSlots::refusal
    std::vector<std::uint64_t> fenced_off;   // by MetricSlots::refusal: 412 by require_fence
    std::vector<std::uint64_t> exempted;     // by MetricSlots::refusal
    std::vector<std::uint64_t> would_refuse; // by MetricSlots::refusal: not enforced
    std::vector<std::uint64_t> overruns;     // by MetricSlots::refusal: cost more than reserved
    std::vector<std::uint64_t> granted;      // by MetricSlots::refusal: permits
    std::vector<std::uint64_t> replayed;     // by MetricSlots::refusal: repeated answers
    std::vector<UpstreamCounters> upstreams; // by MetricSlots::upstream
    std::vector<WaitCounters> waits;         // by MetricSlots::wait
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_rejected = 0; // max_connections reached
    std::uint64_t rejected_per_client = 0;  // max_connections_per_client reached
    std::uint64_t slow_heads = 0;           // clients below min_rate
    std::uint64_t slow_bodies = 0;
    std::uint64_t shed_clients = 0; // idle connections closed for want of descriptors
    std::uint64_t shed_upstreams = 0;
    std::uint64_t connections_open = 0;
    std::uint64_t tls_handshakes = 0; // completed by clients
    std::uint64_t tls_resumed = 0;    // resumed among the completed
    std::uint64_t tls_failures = 0;
    std::uint64_t tls_plain_http = 0; // requests in plain text among the failures
    std::uint64_t tunnels_open = 0;   // connections that have switched protocols
    std::uint64_t accept_errors = 0;
    std::uint64_t proxy_untrusted = 0;    // connections to a PROXY listener from other peers
    std::uint64_t proxy_malformed = 0;    // without a readable PROXY header
    std::uint64_t permit_connections = 0; // open connections to permit listeners
    std::uint64_t permits_waiting = 0;    // acquires that wait in a queue
    WaitCounters permit_waits;            // acquires that have waited
    WaitCounters lock_waits;              // lease requests that have waited
    std::uint64_t tickets_issued = 0;     // permits that requests may present
    std::uint64_t tickets_used = 0;       // presented, and paid for a request
    std::uint64_t tickets_unknown = 0;    // presented, and not valid

    // Grows the vectors to the slots in use, after a new snapshot.
    void
    fit(std::size_t route_slots,
        std::size_t refusal_slots,
        std::size_t upstream_slots,
        std::size_t wait_slots = 0);
    WorkerCounters& operator+=(const WorkerCounters& other);
};

// Labels that stand for a route where callers acquire permits, and for a limit that callers bring.
// No name in a configuration has parentheses.
inline constexpr std::string_view permits_route = "(permits)";
inline constexpr std::string_view dynamic_limits = "(dynamic)";

// Names for slots that stay the same for the life of the process, so that counters survive
// reloads. Used by the control thread alone (reload and scrape).
class MetricSlots {
  public:
    [[nodiscard]] std::uint32_t
    route(const std::string& name); // slot 0 is "(none)": no route matched
    [[nodiscard]] std::uint32_t refusal(const std::string& route, const std::string& limit);
    [[nodiscard]] std::uint32_t upstream(const std::string& name);
    [[nodiscard]] std::uint32_t wait(const std::string& limit);

    [[nodiscard]] const std::vector<std::string>& routes() const noexcept { return routes_; }
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>&
    refusals() const noexcept {
        return refusals_;
    }
    [[nodiscard]] const std::vector<std::string>& upstreams() const noexcept { return upstreams_; }
    [[nodiscard]] const std::vector<std::string>& waits() const noexcept { return waits_; }

  private:
    std::vector<std::string> routes_{"(none)"};
    std::vector<std::pair<std::string, std::string>> refusals_;
    std::vector<std::string> upstreams_;
    std::vector<std::string> waits_;
    std::map<std::string, std::uint32_t> route_slots_{{"(none)", 0}};
    std::map<std::pair<std::string, std::string>, std::uint32_t> refusal_slots_;
    std::map<std::string, std::uint32_t> upstream_slots_;
    std::map<std::string, std::uint32_t> wait_slots_;
};

// The figures of a scrape beside the workers' counters.
struct ProcessFigures {
    std::string version;
    std::uint64_t config_generation = 0;
    std::uint64_t config_reloads = 0;
    std::uint64_t config_reload_failures = 0;
    std::uint64_t certificate_reloads = 0; // because their files had changed
    std::uint64_t certificate_reload_failures = 0;
    struct CertificateFigures {
        std::string file;
        double expires_seconds = 0; // since the epoch
    };
    std::vector<CertificateFigures> certificates;
    double start_time_seconds = 0; // since the epoch
    std::size_t workers = 0;
    bool permits = false;             // true if enabled
    std::uint64_t dynamic_limits = 0; // created by callers
    std::uint64_t access_log_written = 0;
    std::uint64_t access_log_dropped = 0;
    struct SlotFigures {            // slots in coming windows
        std::uint64_t reserved = 0; // now
        std::uint64_t given = 0;    // ever, as the next ones
        std::uint64_t claimed = 0;
        std::uint64_t missed = 0; // refusals that got none
    };
    struct LimitFigures {
        std::string name;
        bool cap = false;
        bool keyed = false;
        std::uint64_t quota = 0;
        std::uint64_t used = 0;             // by an unkeyed window or cap
        std::uint64_t live_keys = 0;        // for a keyed one
        std::uint64_t overflow = 0;         // requests whose keys did not fit in its table
        std::uint64_t table_full = 0;       // new keys refused for want of memory
        std::uint64_t overrides = 0;        // active overrides of quotas for some keys
        bool waits = false;                 // when_exceeded: wait
        std::uint64_t waiting = 0;          // now
        std::optional<SlotFigures> slots{}; // retry_after: reserve
    };
    std::vector<LimitFigures> limits;
    struct LockFigures {
        std::string name; // or dynamic_limits: all that callers have created, together
        std::uint64_t max = 0;
        std::uint64_t locks = 0; // locks in use, of those together
        std::uint64_t held = 0;  // slots, by leases
        std::uint64_t waiting = 0;
        std::uint64_t granted = 0; // ever, as the next ones
        std::uint64_t refused = 0;
        std::uint64_t released = 0;
        std::uint64_t disconnected = 0;
        std::uint64_t forced = 0;
        std::uint64_t expired = 0;
    };
    std::vector<LockFigures> locks;
    struct CooldownFigures {
        std::string owner; // "upstream:NAME" or "route:NAME"
        std::string scope;
        std::uint64_t paused = 0;  // now
        std::uint64_t pauses = 0;  // ever
        std::uint64_t refused = 0; // ever
        std::uint64_t waiting = 0; // now
    };
    std::vector<CooldownFigures> cooldowns;
    struct EndpointFigures {
        std::string upstream;
        std::string endpoint;
        std::uint32_t metric = 0; // the upstream's, for figures that its workers count
        bool up = false;
        std::uint64_t in_flight = 0;
        std::uint64_t ejections = 0; // ever, as the next ones
        std::uint64_t failures = 0;
        std::uint64_t checks_passed = 0;
        std::uint64_t checks_failed = 0;
    };
    std::vector<EndpointFigures> endpoints;
    struct StateFigures {
        std::uint64_t writes = 0; // ever, as the next ones
        std::uint64_t write_failures = 0;
        double last_write_seconds = 0; // since the epoch
        double round_seconds = 0;      // duration of the last round of writes
    };
    std::optional<StateFigures> state{}; // the state file's
};

// Writes the Prometheus text exposition (format 0.0.4) through prometheus-cpp's serializer. Names
// begin with stint_; no client key is ever a label.
[[nodiscard]] std::string
exposition(const WorkerCounters& sum, const MetricSlots& slots, const ProcessFigures& figures);

} // namespace stint::observe
