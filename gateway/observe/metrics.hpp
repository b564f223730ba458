// The counters of each worker (plain numbers, no atomics), and their output for Prometheus.
#pragma once

#include "base/time.hpp"
#include "observe/access_log.hpp"
#include "observe/http2_glitch.hpp"
#include "observe/slot_counters.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::observe {

// Upper bounds of the buckets of latency histograms, in seconds. A last bucket, +Inf, takes all
// higher values.
inline constexpr std::array latency_bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                              0.05,   0.1,   0.25,   0.5,   1.0,  2.5,
                                              5.0,    10.0,  30.0,   60.0};

struct Histogram {
    std::array<std::uint64_t, latency_bounds.size() + 1> buckets{}; // counts, not cumulative
    double sum_seconds = 0;
    void observe(Duration duration) noexcept;
    Histogram& operator+=(const Histogram& more) noexcept;
};

struct RouteCounters {
    // by [outcome][status / 100]; class 0 = no response was sent
    std::array<std::array<std::uint64_t, 6>, outcome_count> requests{};
    std::uint64_t in_flight = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    RouteCounters& operator+=(const RouteCounters& more) noexcept;
};

struct UpstreamCounters {
    Histogram latency;
    std::uint64_t connects = 0;
    std::uint64_t connect_failures = 0;
    std::uint64_t reused = 0;
    std::uint64_t retries = 0;
    std::uint64_t retries_over_budget = 0;
    std::uint64_t idle = 0; // idle pooled connections
    // Requests in flight at this upstream. Used only for an upstream with a single endpoint, whose
    // EndpointState does not count its requests.
    std::uint64_t in_flight = 0;
    UpstreamCounters& operator+=(const UpstreamCounters& more) noexcept;
};

// Counters of a limit with when_exceeded: wait.
struct WaitCounters {
    Histogram time;            // time in the queue of requests that were admitted
    std::uint64_t refused = 0; // requests refused after waiting
    WaitCounters& operator+=(const WaitCounters& more) noexcept;
};

// Counters of a limit in dry run.
struct DryRunCounters {
    std::uint64_t would_refuse = 0;
    std::uint64_t would_wait = 0; // only of limits with when_exceeded: wait

    DryRunCounters& operator+=(const DryRunCounters& more) noexcept;
};

// One worker's counters. Used by that worker's thread alone; for a scrape that thread makes a copy.
struct WorkerCounters {
    SlotCounters<RouteCounters> routes;      // by MetricSlots::route
    std::vector<std::uint64_t> refusals;     // by MetricSlots::refusal
    std::vector<std::uint64_t> denied;       // by MetricSlots::refusal: 403 by the limit
    std::vector<std::uint64_t> fenced_off;   // by MetricSlots::refusal: 412 by require_fence
    std::vector<std::uint64_t> exempted;     // by MetricSlots::refusal: the limit does not apply
    std::vector<DryRunCounters> dry_runs;    // by MetricSlots::refusal
    std::vector<std::uint64_t> overruns;     // by MetricSlots::refusal: cost more than reserved
    std::vector<std::uint64_t> granted;      // by MetricSlots::refusal: permits granted
    std::vector<std::uint64_t> replayed;     // by MetricSlots::refusal: idempotent replays
    std::vector<UpstreamCounters> upstreams; // by MetricSlots::upstream
    std::vector<WaitCounters> waits;         // by MetricSlots::wait
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_rejected = 0; // max_connections reached
    std::uint64_t rejected_per_client = 0;  // max_connections_per_client reached
    std::uint64_t slow_heads = 0;           // heads slower than min_rate
    std::uint64_t slow_bodies = 0;
    std::uint64_t shed_clients = 0; // idle connections closed because descriptors or memory ran out
    std::uint64_t shed_upstreams = 0;
    std::uint64_t connections_open = 0;
    std::uint64_t tls_handshakes = 0; // completed handshakes with clients
    std::uint64_t tls_resumed = 0;    // resumed sessions among tls_handshakes
    std::uint64_t tls_failures = 0;
    std::uint64_t tls_plain_http = 0; // plaintext HTTP requests among tls_failures
    std::uint64_t tunnels_open = 0;   // connections that have switched protocols
    std::uint64_t accept_errors = 0;
    std::uint64_t proxy_untrusted = 0;    // connections without trusted peer at a PROXY listener
    std::uint64_t proxy_malformed = 0;    // connections without a valid PROXY header
    std::uint64_t permit_connections = 0; // open connections to permit listeners
    std::uint64_t permits_waiting = 0;    // permit requests that wait in a queue now
    WaitCounters permit_waits;            // permit requests that have waited
    WaitCounters lock_waits;              // lease requests that have waited
    // Permits for X-Stint-Permit: issued, presented and paid for a request, presented and not
    // valid.
    enum Ticket : std::size_t { issued, used, unknown };
    std::array<std::uint64_t, 3> tickets{};
    std::uint64_t http2_connections = 0; // connections that have spoken HTTP/2
    std::array<std::uint64_t, http2_glitch_kinds> http2_glitches{}; // by Http2Glitch

    // Grows to the numbers of slots in use. Call it when a new snapshot is adopted.
    void
    fit(std::size_t route_slots,
        std::size_t refusal_slots,
        std::size_t upstream_slots,
        std::size_t wait_slots = 0);
    WorkerCounters& operator+=(const WorkerCounters& other);
};

// Label values: the route under which permit requests are counted, and the limit under which all
// dynamic limits are counted. Names in a configuration cannot have parentheses.
inline constexpr std::string_view permits_route = "(permits)";
inline constexpr std::string_view dynamic_limits = "(dynamic)";

// Assigns a counter slot (an index) to each route, limit, upstream and queue by name. A slot never
// changes, so counters survive reloads. Functions with a name return its slot, and assign a new one
// if necessary. Used by the control thread alone.
class MetricSlots {
  public:
    [[nodiscard]] std::uint32_t
    route(const std::string& name); // slot 0 is "(none)": requests without a matching route
    [[nodiscard]] std::uint32_t refusal(const std::string& route, const std::string& limit);
    [[nodiscard]] std::uint32_t upstream(const std::string& name);
    [[nodiscard]] std::uint32_t wait(const std::string& limit);
    // Return the slot that the name has; nullopt if it has none.
    [[nodiscard]] std::optional<std::uint32_t> route_slot(const std::string& name) const;
    [[nodiscard]] std::optional<std::uint32_t> upstream_slot(const std::string& name) const;

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

// The metrics of a scrape that are not workers' counters.
struct ProcessFigures {
    std::string version;
    std::uint64_t config_generation = 0;
    std::uint64_t config_reloads = 0;
    std::uint64_t config_reload_failures = 0;
    bool last_reload_applied = true;     // also if there has been none
    std::uint64_t unwatched_folders = 0; // folders of watched files that the kernel does not watch
    std::uint64_t certificate_reloads = 0; // reloads after a change of the files
    std::uint64_t certificate_reload_failures = 0;
    struct CertificateFigures {
        std::string file;
        double expires_seconds = 0; // since the epoch
    };
    std::vector<CertificateFigures> certificates;
    double start_time_seconds = 0; // since the epoch
    std::size_t workers = 0;
    bool permits = false;             // true if the permits listener is configured
    std::uint64_t dynamic_limits = 0; // number of limits that clients have defined
    std::uint64_t access_log_written = 0;
    std::uint64_t access_log_dropped = 0;
    struct InFlightFigures {       // max_requests_in_flight
        std::uint64_t max = 0;     // 0: no bound
        std::uint64_t counted = 0; // current value
        std::uint64_t refused = 0; // total since the start
    };
    InFlightFigures in_flight{};
    struct SlotFigures {            // reservations of slots in coming windows
        std::uint64_t reserved = 0; // current value
        std::uint64_t given = 0;    // total since the start, like the members below
        std::uint64_t claimed = 0;
        std::uint64_t missed = 0; // refused requests that got no slot
    };
    struct LimitFigures {
        std::string name;
        bool cap = false;
        bool keyed = false;
        bool others = false; // the sum of several limits, with and without keys; has no quota
        std::uint64_t quota = 0;
        std::uint64_t used = 0;             // used quota or held slots; 0 for a keyed window
        std::uint64_t live_keys = 0;        // keys with a live counter; 0 for a limit without keys
        std::uint64_t overflow = 0;         // requests whose keys did not fit into the key table
        std::uint64_t table_full = 0;       // requests refused because memory for a new key ran out
        std::uint64_t overrides = 0;        // active overrides
        bool waits = false;                 // when_exceeded: wait
        std::uint64_t waiting = 0;          // current value
        std::optional<SlotFigures> slots{}; // retry_after: reserve
    };
    std::vector<LimitFigures> limits;
    struct LockFigures {
        std::string name; // lock name; "(dynamic)" for all undeclared locks together
        std::uint64_t max = 0;
        std::uint64_t locks = 0; // number of locks in use under this name
        std::uint64_t held = 0;  // slots that leases hold now
        std::uint64_t waiting = 0;
        std::uint64_t granted = 0; // total since the start, like the members below
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
        std::uint64_t paused = 0;  // current value
        std::uint64_t pauses = 0;  // total since the start
        std::uint64_t refused = 0; // total since the start
        std::uint64_t waiting = 0; // current value
    };
    std::vector<CooldownFigures> cooldowns;
    struct EndpointFigures {
        std::string upstream;
        std::string endpoint;
        static constexpr std::uint32_t no_metric = 0xffffffff;
        std::uint32_t metric = 0; // the upstream's slot in WorkerCounters::upstreams, or no_metric
        bool up = false;
        std::uint64_t in_flight = 0;
        std::uint64_t ejections = 0; // total since the start, like the members below
        std::uint64_t failures = 0;
        std::uint64_t checks_passed = 0;
        std::uint64_t checks_failed = 0;
    };
    std::vector<EndpointFigures> endpoints;
    struct StateFigures {
        std::uint64_t writes = 0;         // total since the start
        std::uint64_t write_failures = 0; // total since the start
        double last_write_seconds = 0;    // time of the last write, since the epoch
        double round_seconds = 0;         // duration of the last round of writes
    };
    std::optional<StateFigures> state{}; // metrics of the state file; nullopt without one
    struct StoreFigures {
        std::string name;
        bool up = false;          // the server answers
        bool ready = false;       // the store can be asked for shares
        std::size_t counters = 0; // counters of which this gateway has a share
        double round_trip_seconds = 0;
        std::uint64_t calls = 0; // totals since the start, like the members below
        std::uint64_t failed_calls = 0;
        std::uint64_t wants_told = 0;   // requests that waited for a share until the store answered
        std::uint64_t wants_failed = 0; // requests that waited for a share and got no answer
        std::uint64_t learnt_pauses = 0;
    };
    std::vector<StoreFigures> stores{};
};

// Returns the Prometheus text exposition (format 0.0.4), made by prometheus-cpp's serializer. Names
// begin with stint_; no client key is ever a label.
[[nodiscard]] std::string
exposition(const WorkerCounters& sum, const MetricSlots& slots, const ProcessFigures& figures);

} // namespace stint::observe
