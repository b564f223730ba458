// The configuration as plain values: every default filled in, every name resolved, every number in
// range. Nothing here knows YAML: names, bounds and words of the keys stand in the tables of
// config/fields/tables.hpp. The defaults stand here alone.
#pragma once

#include "base/ip_address.hpp"
#include "base/path_rules.hpp"
#include "base/regex.hpp"
#include "base/time_zone.hpp"
#include "config/schema/schema_shaping.hpp"
#include "config/schema/schema_tls.hpp"
#include "config/schema/schema_upstreams.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
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
    // A Unix socket's file has them.
    std::uint32_t mode = 0660;
    std::string group{};                     // as configured; empty: this process's
    std::optional<std::uint32_t> group_id{}; // its number
};

struct Listener {
    Address address;
    bool half_close_allowed = false; // half_close: allow | gone (default)
    bool proxy_protocol = false;     // each connection begins with a PROXY header
    std::optional<Tls> tls{};
    std::uint16_t https_port = 0; // redirect_http: where requests are redirected; 0 = off
};

struct Admin {
    Address address;
    std::string token_file; // absolute or relative to the configuration file; empty = no token
    bool read_only = false;
    std::optional<Tls> tls{};
    std::vector<std::string> hosts{}; // Host names accepted beside its address; lower case
    std::uint64_t max_connections = 64;
};

// The listener for permits, for callers whose traffic does not pass through here.
struct Permits {
    Address address;
    std::string token_file;               // as Admin's
    std::uint64_t dynamic_limits = 0;     // the most limits that callers may bring
    std::uint64_t dynamic_locks = 10'000; // the most locks that callers may create by name
    milliseconds max_ttl{60'000};         // a lease's longest TTL
    // Without `state`: time after the start in which no lock is granted; none: max_ttl.
    std::optional<milliseconds> start_up_grace;
    std::vector<std::string> hosts{}; // as Admin's
    std::optional<Tls> tls{};
};

// Counts that outlive the process.
struct State {
    std::string file; // absolute or relative to the configuration file; empty: nothing is kept
    bool closed_on_start = false; // on_start: open (default) | closed
};

// Timeouts that hold for a whole connection, and the defaults of the others.
struct Timeouts {
    milliseconds head{10'000};
    milliseconds body_idle{30'000};
    milliseconds idle{60'000};
    milliseconds connect{2'000};
    milliseconds response{60'000};
    milliseconds tunnel_idle{600'000};
    milliseconds drain{10'000};
};

// Timeouts that a route or an upstream may set; a route's own wins over its upstream's.
struct TimeoutOverrides {
    std::optional<milliseconds> body_idle;
    std::optional<milliseconds> connect;
    std::optional<milliseconds> response;
    std::optional<milliseconds> tunnel_idle;
};

// Bytes a second that a client has to send on average; 0 = off.
struct MinRate {
    std::size_t head = 64;
    std::size_t body = 64;
    milliseconds after{10'000}; // no check before
};

struct AccessLog {
    enum class Target : std::uint8_t { standard_output, file, off };
    Target target = Target::standard_output;
    std::string path;                // for Target::file
    std::vector<std::string> fields; // header names, lower case (written `header:NAME`)
};

struct Endpoint {
    std::string host; // an IP address (IPv6 without brackets), a host name, or a socket's path
    std::uint16_t port = 0;
    bool is_unix = false;
    std::string text; // as configured
    bool tls = false; // https://
    std::uint32_t weight = 1;
    std::uint32_t max_requests = 0; // at a time; 0 = any number
};

// One part of a limit's key.
struct KeySource {
    // In the order of routing::KeySource::Kind.
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
        permit_key // text from the permit's caller; alone, named limits only
    };
    Kind kind = Kind::client_ip;
    std::string name; // the header's (lower case), cookie's, parameter's or claim's

    friend bool operator==(const KeySource&, const KeySource&) = default;
};

// Handling of a pause that an upstream asks for.
struct Cooldown {
    enum class Scope : std::uint8_t { host, route, key };
    bool on = true;
    Scope scope = Scope::host;
    std::vector<KeySource> key;            // for Scope::key
    milliseconds most{600'000};            // max_cooldown
    std::optional<milliseconds> otherwise; // default: for responses that name no time
    milliseconds ramp{30'000};
    bool learn = false; // pace to the limits that the upstream announces
    struct Wait {
        milliseconds max_wait{30'000};
        std::uint64_t max_waiting = 1000; // for one scope
    };
    std::optional<Wait> wait; // when_paused: wait
};

struct Upstream {
    enum class ProxyProtocol : std::uint8_t { off, v1, v2 };
    std::string name;
    std::vector<Endpoint> endpoints;
    std::string host;  // replaces Host; empty = the client's is kept
    UpstreamTls tls{}; // for https endpoints
    milliseconds resolve_interval{30'000};
    Shaping shaping;
    ProxyProtocol proxy_protocol = ProxyProtocol::off;
    TimeoutOverrides timeouts;
    std::optional<Cooldown> cooldown;
    std::optional<Retry> retry;
    LoadBalance load;
    std::vector<KeySource> hash_key{KeySource{}}; // for balance: hash; client_ip
};

// Rate-limit fields of responses.
struct Headers {
    enum class Fields : std::uint8_t { off, loading, legacy, both };
    enum class Prefix : std::uint8_t { x_ratelimit, ratelimit };
    enum class Reset : std::uint8_t { delta, epoch };
    Fields fields = Fields::off;
    Prefix prefix = Prefix::x_ratelimit; // for the older fields
    Reset reset = Reset::delta;          // for the older fields
};

struct OwnBody {
    std::string content_type;
    std::string text;
};

// The bits of an address that identify a client.
struct AddressPrefixes {
    std::uint8_t ipv4 = 32;
    std::uint8_t ipv6 = 64;
};

// The peers whose word about the client Stint accepts.
struct TrustedProxies {
    std::vector<Cidr> networks;
    bool unix_peers = false;                // those of Unix sockets
    std::string header = "x-forwarded-for"; // that names the client, lower case
    // Fields removed from requests of all other peers, as written; a "*" at the end matches any
    // rest.
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
// Waiters in one queue: before one counter, or for one scope.
inline constexpr std::uint64_t most_waiting = 100'000;
inline constexpr std::chrono::hours longest_refill = std::chrono::days{366};

// True if an empty token bucket with these numbers is full again within longest_refill.
[[nodiscard]] constexpr bool
refills_in_time(std::uint64_t burst, std::uint64_t quota, std::chrono::nanoseconds per) noexcept {
    const std::chrono::duration<double> length = per;
    return static_cast<double>(burst) * length <= static_cast<double>(quota) * longest_refill;
}

// Keys are canonical, as routing spells them; or patterns with "*" and "?".
struct Override {
    std::string key;
    std::uint64_t quota = 0;
    std::uint64_t burst = 0; // token buckets only; 0 = the limit's, or else this quota
};
struct KeyList {
    std::vector<Cidr> networks; // clients'
    std::vector<std::string> keys;

    [[nodiscard]] bool empty() const noexcept { return networks.empty() && keys.empty(); }
};

// Settings that make a limit a lock: a cap with a name of base/lock_names.hpp, whose slots leases
// hold, too.
struct LockTerms {
    std::uint64_t max_waiting = 10'000; // callers that wait for a lease, at a time
};

struct Limit {
    enum class Kind : std::uint8_t { window, cap };
    enum class Anchor : std::uint8_t { first_request, clock };
    enum class MissingKey : std::uint8_t { share, exempt, refuse };
    enum class Algorithm : std::uint8_t { fixed_window, sliding_window, token_bucket };
    std::string name;  // unique over named and inline limits
    std::string route; // an inline limit's route, else empty
    Kind kind = Kind::window;
    std::uint64_t quota = 0;          // requests: or concurrent:
    std::chrono::nanoseconds per{};   // for a calendar unit: its longest length
    std::optional<CalendarUnit> unit; // per: day, week or month
    std::string time_zone;            // the unit's, such as Europe/Berlin
    Anchor anchor = Anchor::first_request;
    std::vector<KeySource> key; // none: one counter for all
    MissingKey missing_key = MissingKey::share;
    AddressPrefixes prefixes; // for client_ip
    std::vector<Override> overrides;
    KeyList exempt;
    KeyList deny;
    std::uint64_t max_keys = 1'000'000;
    std::optional<Headers::Fields> headers; // in place of its route's
    int status = 429;                       // a refusal's
    std::optional<OwnBody> body;            // a refusal's
    milliseconds retry_after_jitter{0};
    std::vector<KeySource> reserve_for;            // retry_after: reserve; empty: reset
    Algorithm algorithm = Algorithm::fixed_window; // a window's
    std::uint64_t burst = 0;                       // token buckets only; 0 = the quota
    bool pace = false;
    bool enforce = true;
    std::uint64_t cost = 1;                // or reserve:, when the response tells the cost
    std::string cost_request_field;        // cost: header:NAME, lower case
    std::string cost_response_field;       // the same with reserve:
    std::vector<std::uint16_t> count_when; // empty = always
    std::vector<std::uint16_t> refund;
    bool ws_holds_slot = true; // caps only: for a tunnel's whole life

    struct Wait {
        milliseconds max_wait{2'000};
        std::uint64_t max_waiting = 1'000;
        std::vector<KeySource> fair_by{KeySource{}}; // client_ip
    };
    std::optional<Wait> wait; // when_exceeded: wait
    std::optional<LockTerms> lock;
};

struct Match {
    std::string host = "*"; // lower case; "*" = any, "*.suffix", or exact
    enum class Path : std::uint8_t { prefix, regex, exact };
    std::string path = "/"; // a prefix, the whole path, or a regular expression of it
    Path kind = Path::prefix;
    std::optional<Regex> regex;       // the expression
    std::vector<std::string> methods; // empty = any
};

struct Route {
    std::string name;
    Match match;
    std::size_t upstream = 0; // index into Config::upstreams, unless there is an `answer`
    std::optional<Answer> answer;
    std::optional<std::string> host; // instead of the upstream's; "" = the client's is kept
    Shaping shaping;                 // its own, beside the upstream's
    std::optional<PathRewrite> rewrite;
    std::vector<std::size_t> limits;          // indices into Config::limits, at most 16, no repeats
    std::optional<std::size_t> require_fence; // a lock, as an index into Config::limits
    TimeoutOverrides timeouts;
    std::vector<std::string> upgrade{"websocket"}; // protocols, lower case; empty = off
    Headers headers;                               // its own or those of the whole configuration
    std::optional<std::uint64_t> max_body;         // bytes, the same; none: any length
    std::optional<Cooldown> cooldown;              // instead of its upstream's
    std::optional<Retry> retry;                    // the same
};

struct Config {
    std::size_t workers = 0;         // 0 = auto: one per core
    bool pin_workers = false;        // each to a core
    std::vector<Listener> listeners; // empty only if there are permits
    std::optional<Admin> admin;
    std::optional<Permits> permits;
    std::optional<State> state;
    Timeouts timeouts;
    std::size_t max_connections = 10'000;
    std::size_t max_connections_per_client = 0; // 0 = off
    std::size_t max_head = 16 * 1024;           // bytes
    std::size_t max_target = 8 * 1024;          // bytes
    std::size_t max_fields = 128;               // fields of one head
    std::optional<std::uint64_t> max_body;      // for routes without their own; none: any length
    MinRate min_rate;
    PathRules paths;
    // Absolute-form targets whose host no route names match the routes for any host.
    bool routes_absolute_form = false;
    bool forwarded = false;   // write Forwarded (RFC 7239), too
    AddressPrefixes prefixes; // for max_connections_per_client, and limits that set none
    TrustedProxies trusted_proxies;
    AccessLog access_log;
    std::string log_level = "info";
    Headers headers;
    std::vector<Upstream> upstreams;
    std::vector<Limit> limits; // named ones, locks, then the inline ones of each route
    std::vector<Route> routes;
};

} // namespace stint::config
