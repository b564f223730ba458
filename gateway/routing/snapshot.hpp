// The configuration as workers use it for requests: compiled once, immutable from then on.
#pragma once

#include "base/field_names.hpp"
#include "base/head_bounds.hpp"
#include "base/hop_fields.hpp"
#include "base/load_bounds.hpp"
#include "base/log_rules.hpp"
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
    // The Host field that a client would send if it called the endpoint directly.
    std::string authority{};
    // nullptr: plain TCP. A reload keeps the object if the settings are equal.
    std::shared_ptr<const tls::Client> tls{};
    std::string server_name{}; // the name that the certificate must match, with tls
    std::uint32_t weight = 1;
    std::uint32_t max_requests = 0; // most concurrent requests, over all workers; 0: unlimited
    // Shared by the workers; nullptr: each worker has its own.
    std::shared_ptr<upstream::EndpointState> state{};
};

struct UpstreamSpec {
    enum class ProxyProtocol : std::uint8_t { off, v1, v2 };
    std::string name;
    std::vector<EndpointSpec> endpoints; // from one to 64
    std::string host;                    // the Host to send; empty = the client's Host is kept
    std::uint32_t metric = 0;            // slot in the workers' counters
    BalanceSpec balance{};
    // Connections begin with a PROXY header. Each is for one client, and carries one request.
    ProxyProtocol proxy_protocol = ProxyProtocol::off;
};

using UpstreamsPtr = std::shared_ptr<const std::vector<UpstreamSpec>>;

// The configuration by which callers acquire permits from the limits.
struct PermitTerms {
    std::vector<RouteLimit> limits;   // in the order of Snapshot::limits
    TextMap<std::uint32_t> by_name;   // index into `limits` by the limit's name
    std::uint64_t dynamic_limits = 0; // the most limits that callers may define
    std::uint32_t dynamic_metric = 0; // slot in the workers' counters, for all callers' limits
    Duration max_ttl{};               // longest ttl of a lease
    bool needs_token = false;
    std::string token; // if needs_token is set and this is empty, every caller is refused
    Reach reach = Reach::loopback;    // network reach of the permit listener
    std::string host;                 // host of the permit listener's address
    std::vector<std::string> hosts{}; // further names of the listener
};

// Timeouts that apply before a route is known.
struct ConnectionTimeouts {
    Duration head{};
    Duration idle{};
    Duration body_idle{};
    Duration drain{};
    Duration drain_delay{}; // before the drain begins
};

// Routes, upstreams and permits are shared by the snapshots that differ only in the terms of
// limits.
struct Snapshot {
    RouteTable routes;
    UpstreamsPtr upstreams;            // never null
    std::vector<LimitTermsPtr> limits; // in the configuration's order
    ConnectionTimeouts timeouts;
    MinRate min_head_rate;
    MinRate min_body_rate;
    TrustedProxies trusted;
    FieldNames trusted_fields; // fields about the client; dropped from untrusted peers' requests
    LoadBounds load;
    AddressPrefixes prefixes; // networks that are one client for max_connections_per_client
    HeadBounds heads;
    PathRules paths;
    HopFields hop; // Forwarded and Via of requests to upstreams
    // Fields that limits count by, and the field in which trusted peers name the client; lower
    // case. A client can neither have these fields removed from its request, nor spell them so that
    // only the upstream recognises them.
    std::vector<std::string> protected_fields;
    LogRules log;                               // for the access log
    std::shared_ptr<const PermitTerms> permits; // null: permits are disabled
    std::uint64_t generation = 0;

    // Returns the route's limit number i. The route is one of `routes`.
    [[nodiscard]] AppliedLimit on(const Route& route, std::size_t i) const noexcept {
        return {limits[route.limits[i].index].get(), &route.limits[i]};
    }
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace stint::routing
