// The configuration as plain structs, after all checks: defaults are filled in, names are resolved
// to indices, numbers are in range. The structs are independent of YAML. The tables of
// config/fields/tables.hpp define names, bounds and words of the keys; the default values are
// defined here only.
#pragma once

#include "base/head_bounds.hpp"
#include "base/hop_fields.hpp"
#include "base/http2_bounds.hpp"
#include "base/ip_address.hpp"
#include "base/load_bounds.hpp"
#include "base/log_rules.hpp"
#include "base/log_target.hpp"
#include "base/path_rules.hpp"
#include "base/regex.hpp"
#include "base/time_zone.hpp"
#include "config/schema/schema_shaping.hpp"
#include "config/schema/schema_stores.hpp"
#include "config/schema/schema_tls.hpp"
#include "config/schema/schema_upstreams.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stint::config {

using std::chrono::milliseconds;

struct Address {
    enum class Kind : std::uint8_t { ip, unix_socket };
    Kind kind = Kind::ip;
    std::string host; // an IPv4 address, an IPv6 address without brackets, or a Unix socket's path
    std::uint16_t port = 0;
    std::string text; // as configured
    // Permissions and group of a Unix socket's file.
    std::uint32_t mode = 0660;
    std::string group{};                     // as configured; empty = the group of the process
    std::optional<std::uint32_t> group_id{}; // numeric id of `group`
};

// HTTP/2 on a listener.
struct Http2 {
    bool offered = false; // `http` has h2: offered by ALPN
    bool h2c = false;     // without TLS: clients may begin with HTTP/2
    Http2Bounds bounds{};
};

struct Listener {
    Address address;
    bool half_close_allowed = false; // half_close: allow | gone (default)
    bool proxy_protocol = false;     // each connection begins with a PROXY header
    std::optional<Tls> tls{};
    std::uint16_t https_port = 0; // redirect_http: port of redirects to https; 0 = off
    Http2 http2{};
};

struct Admin {
    Address address;
    std::string token_file;        // absolute, or relative to the working folder; empty = no token
    std::string read_token_file{}; // file with the token for reading; path as token_file
    // Paths that need no token to be read.
    std::vector<std::string> open_paths{"/healthz", "/readyz"};
    bool read_only = false;
    std::optional<Tls> tls{};
    std::vector<std::string> hosts{}; // Host names accepted besides the address; lower case
    Http2 http2{};
    std::uint64_t max_connections = 64;
    // The most names of each kind (routes, limits and so on) with series of their own at /metrics.
    // 0 (off): no name has; all are summed as "(other)".
    std::uint64_t max_metric_names = 100;
};

// The listener of the permit API, for clients that ask for limits and locks without sending their
// traffic through the proxy.
struct Permits {
    Address address;
    std::string token_file;               // as Admin::token_file
    std::uint64_t dynamic_limits = 0;     // maximum of limits that clients may define
    std::uint64_t dynamic_locks = 10'000; // maximum of locks that clients may create by name
    milliseconds max_ttl{60'000};         // maximum TTL of a lease
    // Time after a start in which no lock is granted, if the former lock holders are unknown.
    // nullopt means max_ttl.
    std::optional<milliseconds> start_up_grace;
    std::vector<std::string> hosts{}; // as Admin::hosts
    std::optional<Tls> tls{};
    Http2 http2{};
};

// The state file, which keeps counts and leases over a restart.
struct State {
    std::string file; // absolute, or relative to the working folder; empty = no file
    // After a start with incomplete counts: false continues with the known counts (on_start: open),
    // true lets window limits refuse everything for one window (on_start: closed).
    bool closed_on_start = false;
};

// Timeouts of client connections and of the drain, and the defaults for timeouts of routes and
// upstreams.
struct Timeouts {
    milliseconds head{10'000};
    milliseconds body_idle{30'000};
    milliseconds idle{60'000};
    milliseconds connect{2'000};
    milliseconds response{60'000};
    milliseconds tunnel_idle{600'000};
    milliseconds drain{10'000};
    milliseconds drain_delay{0}; // from the signal to the drain
};

// Timeouts that a route or an upstream may set. A route's value has precedence over its upstream's.
struct TimeoutOverrides {
    std::optional<milliseconds> body_idle;
    std::optional<milliseconds> connect;
    std::optional<milliseconds> response;
    std::optional<milliseconds> tunnel_idle;
};

// Minimum average rate at which a client has to send, in bytes per second; 0 = off.
struct MinRate {
    std::size_t head = 64;
    std::size_t body = 64;
    milliseconds after{10'000}; // time before the first check
};

struct AccessLog {
    LogTarget target;
    LogRules rules{};
};

struct Endpoint {
    std::string host; // an IP address (IPv6 without brackets), a host name, or a socket's path
    std::uint16_t port = 0;
    bool is_unix = false;
    std::string text; // as configured
    bool tls = false; // https://
    std::uint32_t weight = 1;
    std::uint32_t max_requests = 0; // maximum of concurrent requests; 0 = no limit
};

// One part of a key of a limit or a cooldown: the place in a request from which it is read.
struct KeySource {
    // Must have the order of routing::KeySource::Kind, because values are cast.
    enum class Kind : std::uint8_t {
        client_ip,
        header,
        cookie,
        query,
        host,
        path,
        method,
        route,
        jwt,
        tls_subject,
        permit_key // a text that callers of the permit API send; only as the sole source of a key
    };
    Kind kind = Kind::client_ip;
    std::string name; // name of the header (lower case), cookie, parameter or claim

    friend bool operator==(const KeySource&, const KeySource&) = default;
};

// Cooldown: how requests are handled while an upstream asks for a pause (Retry-After).
struct Cooldown {
    enum class Scope : std::uint8_t { host, route, key };
    bool on = true;
    Scope scope = Scope::host;
    std::vector<KeySource> key;            // for Scope::key
    milliseconds most{600'000};            // key `max_cooldown`: upper bound of a pause
    std::optional<milliseconds> otherwise; // key `default`: the pause if the response names no time
    milliseconds ramp{30'000};
    bool learn = false; // pace requests to the rate limits that the upstream's responses announce
    struct Wait {
        milliseconds max_wait{30'000};
        std::uint64_t max_waiting = 1000; // maximum per scope
    };
    std::optional<Wait> wait;          // when_paused: wait
    std::optional<std::size_t> shared; // index in Config::stores: gateways share the pauses
};

struct Upstream {
    enum class ProxyProtocol : std::uint8_t { off, v1, v2 };
    std::string name;
    std::vector<Endpoint> endpoints;
    std::string host;  // replaces Host; empty = keeps the client's Host
    UpstreamTls tls{}; // for https endpoints
    milliseconds resolve_interval{30'000};
    Shaping shaping;
    ProxyProtocol proxy_protocol = ProxyProtocol::off;
    TimeoutOverrides timeouts;
    std::optional<Cooldown> cooldown;
    std::optional<Retry> retry;
    LoadBalance load;
    std::vector<KeySource> hash_key{KeySource{}}; // for balance: hash; the default is client_ip
};

// Settings of the rate-limit header fields in responses.
struct Headers {
    enum class Fields : std::uint8_t { off, draft, legacy, both };
    enum class Prefix : std::uint8_t { x_ratelimit, ratelimit };
    enum class Reset : std::uint8_t { delta, epoch };
    Fields fields = Fields::off;
    Prefix prefix = Prefix::x_ratelimit; // for the legacy (X-RateLimit) fields
    Reset reset = Reset::delta;          // for the legacy (X-RateLimit) fields

    friend bool operator==(const Headers&, const Headers&) = default;
};

struct OwnBody {
    std::string content_type;
    std::string text;
};

// Prefix lengths by which client addresses are grouped: addresses with the same prefix are one
// client.
struct AddressPrefixes {
    std::uint8_t ipv4 = 32;
    std::uint8_t ipv6 = 64;
};

// The peers that are trusted to name the client.
struct TrustedProxies {
    std::vector<Cidr> networks;
    bool unix_peers = false;                // peers on Unix sockets are trusted
    std::string header = "x-forwarded-for"; // names the client; lower case
    // Fields that are removed from requests of untrusted peers, as spelt in the configuration. A
    // "*" at the end matches any rest.
    std::vector<std::string> fields{
        "X-Forwarded-*",    "X-Forwarded",         "X-Real-IP",
        "X-Client-IP",      "X-Cluster-Client-IP", "X-Original-Forwarded-For",
        "X-Original-Host",  "X-Original-URI",      "X-Original-URL",
        "X-Rewrite-URL",    "X-URL-Scheme",        "X-Envoy-External-Address",
        "X-Azure-ClientIP", "CF-Connecting-IP",    "CF-Connecting-IPv6",
        "Client-IP",        "Fastly-Client-IP",    "Front-End-Https",
        "True-Client-IP"};
};

// Upper bounds of a limit's numbers.
inline constexpr std::uint64_t most_requests = 1'000'000'000'000;
inline constexpr std::uint64_t most_concurrent = 1'000'000;
// Maximum of waiting requests in one queue: the queue of a limit's counter or of a cooldown's
// scope.
inline constexpr std::uint64_t most_waiting = 100'000;
inline constexpr std::chrono::hours longest_refill = std::chrono::days{366};
inline constexpr std::chrono::hours longest_shared_refill = std::chrono::days{31};

// Returns true if an empty token bucket with these numbers is full again within so long.
[[nodiscard]] constexpr bool refills_within(
    std::chrono::hours most,
    std::uint64_t burst,
    std::uint64_t quota,
    std::chrono::nanoseconds per) noexcept {
    const std::chrono::duration<double> length = per;
    return static_cast<double>(burst) * length <= static_cast<double>(quota) * most;
}
[[nodiscard]] constexpr bool
refills_in_time(std::uint64_t burst, std::uint64_t quota, std::chrono::nanoseconds per) noexcept {
    return refills_within(longest_refill, burst, quota, per);
}

// Returns the most that one request may cost: a full token bucket, or the quota.
[[nodiscard]] constexpr std::uint64_t
capacity_of(std::uint64_t burst, std::uint64_t quota) noexcept {
    return burst > 0 ? burst : quota;
}

// Other numbers of a limit for some keys. key: a key in the canonical form of routing, or a pattern
// with "*" and "?".
struct Override {
    std::string key;
    std::uint64_t quota = 0;
    std::uint64_t burst = 0; // token buckets only; 0 = the limit's burst, else this quota
};
struct KeyList {
    std::vector<Cidr> networks; // networks of clients
    std::vector<std::string> keys;

    [[nodiscard]] bool empty() const noexcept { return networks.empty() && keys.empty(); }
};

// Settings that make a concurrency limit a lock, whose slots are held by leases as well as by
// requests. The limit's name is formed by base/lock_names.hpp.
struct LockTerms {
    std::uint64_t max_waiting = 10'000; // maximum of clients that wait for a lease
};

struct Limit {
    enum class Kind : std::uint8_t { window, cap };
    enum class Anchor : std::uint8_t { first_request, clock };
    enum class MissingKey : std::uint8_t { share, exempt, refuse, partial };
    enum class Algorithm : std::uint8_t { fixed_window, sliding_window, token_bucket };
    std::string name;  // unique over named and inline limits
    std::string route; // route of an inline limit; else empty
    Kind kind = Kind::window;
    std::uint64_t quota = 0;        // key `requests` or `concurrent`
    std::chrono::nanoseconds per{}; // the window; for a calendar unit its longest length
    // per: day, week or month, in a time zone such as Europe/Berlin.
    struct Calendar {
        CalendarUnit unit = CalendarUnit::day;
        std::string time_zone = "UTC";
    };
    std::optional<Calendar> calendar;
    Anchor anchor = Anchor::first_request;
    std::vector<KeySource> key; // empty = one counter for all requests
    MissingKey missing_key = MissingKey::share;
    AddressPrefixes prefixes; // for the source client_ip
    std::vector<Override> overrides;
    KeyList exempt;
    KeyList deny;
    std::uint64_t max_keys = 1'000'000;
    std::optional<Headers::Fields> headers; // instead of the route's headers
    int status = 429;                       // status of refusals
    std::optional<OwnBody> body;            // body of refusals; nullopt = the default body
    milliseconds retry_after_jitter{0};
    std::vector<KeySource> reserve_for; // key of reserved slots; empty = retry_after: reset
    Algorithm algorithm = Algorithm::fixed_window; // for Kind::window
    std::uint64_t burst = 0;                       // token buckets only; 0 = equal to the quota
    bool pace = false;
    bool enforce = true;
    std::uint64_t cost = 1; // key `cost`; key `reserve` if a response header states the cost
    std::string cost_request_field;        // request header with the cost, lower case
    std::string cost_response_field;       // response header with the cost, lower case
    std::vector<std::uint16_t> count_when; // response statuses that count; empty = all
    std::vector<std::uint16_t> refund;     // response statuses whose charge is refunded
    bool ws_holds_slot = true;             // caps only: a tunnel holds its slot until it ends

    struct Wait {
        milliseconds max_wait{2'000};
        std::uint64_t max_waiting = 1'000;
        std::vector<KeySource> fair_by{KeySource{}}; // the default is client_ip
    };
    std::optional<Wait> wait; // when_exceeded: wait
    std::optional<LockTerms> lock;
    std::optional<SharedLimit> shared;
};

struct Match {
    std::string host = "*"; // lower case; "*" = any, "*.suffix", or exact
    enum class Path : std::uint8_t { prefix, regex, exact };
    std::string path = "/"; // a prefix, a whole path or a regular expression
    Path kind = Path::prefix;
    std::optional<Regex> regex;       // compiled `path`, for Path::regex
    std::vector<std::string> methods; // empty = any but TRACE
};

struct Route {
    std::string name;
    Match match;
    std::size_t upstream = 0; // index into Config::upstreams; unused if `answer` is set
    std::optional<Answer> answer;
    std::optional<std::string> host; // instead of Upstream::host; "" = keeps the client's Host
    Shaping shaping;                 // applied in addition to the upstream's
    std::optional<PathRewrite> rewrite;
    std::vector<std::size_t> limits; // indices into Config::limits, at most 16, no repeats
    // The route's own statuses of refusals, instead of Limit::status; by index into Config::limits.
    std::map<std::size_t, int> statuses;
    std::optional<std::size_t> require_fence; // index of a lock in Config::limits
    TimeoutOverrides timeouts;
    std::vector<std::string> upgrade{"websocket"}; // protocols, lower case; empty = off
    Headers headers;                               // the route's own, else Config::headers
    std::optional<std::uint64_t> max_body; // bytes, own or Config::max_body; nullopt = any length
    std::optional<Cooldown> cooldown;      // instead of Upstream::cooldown
    std::optional<Retry> retry;            // instead of Upstream::retry
    bool grpc_unavailable = false; // grpc_refusal: resource_exhausted (default) | unavailable
};

struct Workers {
    std::size_t count = 0; // 0 = auto: one per core
    bool pin = false;      // pins each worker to a core
};

struct Config {
    Workers workers;
    std::vector<Listener> listeners; // empty only if `permits` is set
    std::optional<Admin> admin;
    std::optional<Permits> permits;
    std::optional<State> state;
    std::string gateway_id; // this gateway's name in the stores; empty = a generated name
    std::vector<Store> stores;
    Timeouts timeouts;
    LoadBounds load;
    HeadBounds heads;
    std::optional<std::uint64_t> max_body; // for routes without max_body; nullopt = any length
    MinRate min_rate;
    PathRules paths;
    HopFields hop;            // the fields Forwarded and Via of requests to upstreams
    AddressPrefixes prefixes; // for max_connections_per_client and for limits without prefixes
    TrustedProxies trusted_proxies;
    AccessLog access_log;
    std::string log_level = "info";
    bool watch = false; // the files are read again when they change
    Headers headers;
    std::vector<Upstream> upstreams;
    std::vector<Limit> limits; // named limits, then locks, then inline limits of routes
    std::vector<Route> routes;
};

} // namespace stint::config
