// The configuration for requests, compiled once and immutable from then on.
#pragma once

#include "base/field_names.hpp"
#include "base/min_rate.hpp"
#include "base/path_rules.hpp"
#include "base/reach.hpp"
#include "base/time.hpp"
#include "limits/limit.hpp"
#include "routing/balance_spec.hpp"
#include "routing/client_address.hpp"
#include "routing/route_table.hpp"
#include "routing/text_map.hpp"
#include "routing/trusted_proxies.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stint::tls {
class Client;
} // namespace stint::tls

namespace stint::routing {

struct EndpointSpec {
    std::string host; // an IP address, a host name, or a Unix socket's path
    std::uint16_t port = 0;
    bool is_unix = false;
    std::string text; // as configured: the endpoint's name in logs, metrics and pools
    // The Host that direct clients of the endpoint would send.
    std::string authority{};
    std::shared_ptr<const tls::Client> tls{}; // nullptr: plain. Kept while its settings are equal.
    std::string server_name{};                // the name that the certificate must match, with tls
    std::uint32_t weight = 1;
    std::uint32_t max_requests = 0; // requests at a time, over all workers; 0: unlimited
    std::shared_ptr<upstream::EndpointState> state{}; // shared by workers; nullptr: one worker's
};

struct UpstreamSpec {
    enum class ProxyProtocol : std::uint8_t { off, v1, v2 };
    std::string name;
    std::vector<EndpointSpec> endpoints; // from one to 64
    std::string host;                    // value for Host; empty = the client's is kept
    std::uint32_t metric = 0;            // slot in the workers' counters
    BalanceSpec balance{};
    // Each connection begins with a PROXY header: it is one client's, and carries one request.
    ProxyProtocol proxy_protocol = ProxyProtocol::off;
};

// The terms on which callers acquire permits from the limits.
struct PermitTerms {
    std::vector<RouteLimit> limits;   // as Snapshot::limits
    TextMap<std::uint32_t> by_name;   // into them
    std::uint64_t dynamic_limits = 0; // created by callers, at most
    std::uint32_t dynamic_metric = 0; // slot in the workers' counters, shared by all of these
    Duration max_ttl{};               // a lease's
    bool needs_token = false;
    std::string token;                // if it is required but empty, every caller is refused
    Reach reach = Reach::loopback;    // the listener's
    std::string host;                 // the listener address's
    std::vector<std::string> hosts{}; // further names of the listener
};

// Timeouts that apply before a route is known.
struct ConnectionTimeouts {
    Duration head{};
    Duration idle{};
    Duration body_idle{};
    Duration drain{};
};

struct Snapshot {
    RouteTable routes;
    std::vector<UpstreamSpec> upstreams;
    std::vector<limits::LimitPtr> limits; // in the configuration's order
    ConnectionTimeouts timeouts;
    MinRate min_head_rate;
    MinRate min_body_rate;
    TrustedProxies trusted;
    FieldNames trusted_fields; // accepted from trusted peers only, as they describe the client
    std::size_t max_connections = 0;
    std::size_t max_connections_per_client = 0; // 0: unlimited
    AddressPrefixes prefixes;                   // prefixes by which clients are counted there
    std::size_t max_head = 0;                   // bytes
    std::size_t max_target = 8 * 1024;          // bytes
    std::size_t max_fields = 128;               // in a head
    PathRules paths;
    bool routes_absolute_form = false; // also for hosts that no route names
    bool forwarded = false;            // requests are sent with Forwarded (RFC 7239)
    // Fields that limits count by, and the field in which trusted peers name the client; lower
    // case. A client can neither remove them from a request nor spell them so that only the
    // upstream reads them.
    std::vector<std::string> protected_fields;
    std::vector<std::string> log_fields; // request fields that the access log records, lower case
    std::optional<PermitTerms> permits;  // nothing: disabled
    std::uint64_t generation = 0;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace stint::routing
