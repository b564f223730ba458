// Everything a request may need of the configuration, compiled once and immutable from then on.
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
    std::string text; // as configured: names the endpoint in logs, metrics and pools
    // What clients that came straight to it would send as Host.
    std::string authority{};
    std::shared_ptr<const tls::Client> tls{}; // nullptr: plain. The same one while its settings are
    std::string server_name{};                // whom the certificate has to be for, with tls
    std::uint32_t weight = 1;
    std::uint32_t max_requests = 0;                   // at a time, over all workers; 0 = any number
    std::shared_ptr<upstream::EndpointState> state{}; // the workers'; nullptr: a worker's own
};

struct UpstreamSpec {
    enum class ProxyProtocol : std::uint8_t { off, v1, v2 };
    std::string name;
    std::vector<EndpointSpec> endpoints; // from one to 64
    std::string host;                    // what Host is set to; empty = the client's is kept
    std::uint32_t metric = 0;            // slot in the workers' counters
    BalanceSpec balance{};
    // Each connection begins with a PROXY header: it is one client's, and carries one request.
    ProxyProtocol proxy_protocol = ProxyProtocol::off;
};

// What callers may ask of the limits themselves.
struct PermitTerms {
    std::vector<RouteLimit> limits;   // as Snapshot::limits
    TextMap<std::uint32_t> by_name;   // into them
    std::uint64_t dynamic_limits = 0; // that callers may bring, at most
    std::uint32_t dynamic_metric = 0; // slot in the workers' counters, of all of these
    Duration max_ttl{};               // of a lease
    bool needs_token = false;
    std::string token;                // empty though one is needed: nobody has it
    Reach reach = Reach::loopback;    // of the listener
    std::string host;                 // of its address
    std::vector<std::string> hosts{}; // names that it is asked by, too
};

// Time-outs that hold before a route is known.
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
    FieldNames trusted_fields; // what only trusted peers may say about the client
    std::size_t max_connections = 0;
    std::size_t max_connections_per_client = 0; // 0: as many as there are
    AddressPrefixes prefixes;                   // what a client is, there
    std::size_t max_head = 0;                   // bytes
    std::size_t max_target = 8 * 1024;          // bytes
    std::size_t max_fields = 128;               // of a head
    PathRules paths;
    bool routes_absolute_form = false; // also for hosts that no route names
    bool forwarded = false;            // requests are sent with Forwarded (RFC 7239)
    // What limits count by, and who is believed about the client: no client may take it out of a
    // request, or spell it so that only the upstream reads it. Lower case.
    std::vector<std::string> protected_fields;
    std::vector<std::string> log_fields; // request fields that the access log carries, lower case
    std::optional<PermitTerms> permits;  // nothing: they are not given
    std::uint64_t generation = 0;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace stint::routing
