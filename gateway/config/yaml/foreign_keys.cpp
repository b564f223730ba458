#include "config/yaml/foreign_keys.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

struct ForeignKey {
    std::string_view key;
    std::string_view beside; // the advice is for maps that may have this key; empty: for all maps
    std::string_view advice;
};

constexpr std::string_view listeners_advice =
    "clients connect to listeners at the top level: listeners: [{address: 0.0.0.0:8080}]";
constexpr std::string_view address_advice = "expected address: 0.0.0.0:8080";
constexpr std::string_view upstreams_advice =
    "expected upstreams at the top level: upstreams: {shop: {endpoints: [127.0.0.1:9000]}}";
constexpr std::string_view endpoints_advice = "expected endpoints: [127.0.0.1:9000]";
constexpr std::string_view routes_advice =
    "expected routes at the top level: routes: [{name: shop, match: {path: /}, upstream: shop}]";
constexpr std::string_view match_advice =
    "what a route matches is in its match: match: {host: shop.example, path: /shop}";
constexpr std::string_view limits_advice =
    "expected limits: {per_client: {requests: 100, per: 1m, key: client_ip}}, and their names in "
    "the limits of routes";
constexpr std::string_view rate_advice = "a rate is two keys: requests: 10 and per: 1s";
constexpr std::string_view concurrent_advice = "expected concurrent: 3";
constexpr std::string_view one_file_advice = "Stint reads one file; put the content here";
constexpr std::string_view token_advice =
    "expected token_file, the path of a file with the token, so that GET /config and backups of "
    "this file do not show it";
constexpr std::string_view nodelay_advice =
    "without when_exceeded: wait a limit delays nothing; remove the key";
constexpr std::string_view named_advice =
    "the name of a limit is its key in the map limits: {per_client: {requests: 100, per: 1m}}";

// advice_on_key() uses the first entry that applies.
constexpr std::array foreign_keys{
    ForeignKey{"listen", "address", address_advice},
    ForeignKey{"bind", "address", address_advice},
    ForeignKey{"port", "address", address_advice},
    ForeignKey{"listen", "", listeners_advice},
    ForeignKey{"listeners", "", listeners_advice},
    ForeignKey{"bind", "", listeners_advice},
    ForeignKey{"port", "listeners", listeners_advice},
    ForeignKey{"entryPoints", "listeners", listeners_advice},
    ForeignKey{"frontends", "listeners", listeners_advice},
    ForeignKey{"include", "", one_file_advice},
    ForeignKey{"includes", "", one_file_advice},
    ForeignKey{"import", "", one_file_advice},
    ForeignKey{"token", "token_file", token_advice},
    ForeignKey{"password", "token_file", token_advice},
    ForeignKey{"servers", "endpoints", endpoints_advice},
    ForeignKey{"server", "endpoints", endpoints_advice},
    ForeignKey{"targets", "endpoints", endpoints_advice},
    ForeignKey{"hosts", "endpoints", endpoints_advice},
    ForeignKey{"url", "endpoints", endpoints_advice},
    ForeignKey{"backends", "upstreams", upstreams_advice},
    ForeignKey{"backend", "upstreams", upstreams_advice},
    ForeignKey{"services", "upstreams", upstreams_advice},
    ForeignKey{"clusters", "upstreams", upstreams_advice},
    ForeignKey{
        "servers", "upstreams",
        "expected listeners, where clients connect, or upstreams, "
        "where requests are sent"},
    ForeignKey{
        "server", "upstreams",
        "expected listeners, where clients connect, or upstreams, "
        "where requests are sent"},
    ForeignKey{"locations", "routes", routes_advice},
    ForeignKey{"location", "routes", routes_advice},
    ForeignKey{"http", "routes", "listeners, upstreams, limits and routes are at the top level"},
    ForeignKey{"routers", "routes", routes_advice},
    ForeignKey{"limit_req_zone", "limits", limits_advice},
    ForeignKey{"rate_limits", "limits", limits_advice},
    ForeignKey{"rate_limit", "limits", limits_advice},
    ForeignKey{"rateLimit", "limits", limits_advice},
    ForeignKey{"limit_req", "limits", "expected limits, a list: limits: [per_client]"},
    ForeignKey{"name", "routes", routes_advice},
    ForeignKey{"name", "concurrent", named_advice},
    ForeignKey{"proxy_pass", "upstream", "expected upstream: with the name of an upstream"},
    ForeignKey{"backend", "upstream", "expected upstream: with the name of an upstream"},
    ForeignKey{"service", "upstream", "expected upstream: with the name of an upstream"},
    ForeignKey{"cluster", "upstream", "expected upstream: with the name of an upstream"},
    ForeignKey{"path", "match", match_advice},
    ForeignKey{"paths", "match", match_advice},
    ForeignKey{"location", "match", match_advice},
    ForeignKey{"prefix", "match", match_advice},
    ForeignKey{"methods", "match", match_advice},
    ForeignKey{"hosts", "match", match_advice},
    ForeignKey{"rate", "requests", rate_advice},
    ForeignKey{"limit", "requests", rate_advice},
    ForeignKey{"average", "requests", rate_advice},
    ForeignKey{"period", "requests", rate_advice},
    ForeignKey{"window", "requests", rate_advice},
    ForeignKey{"minute", "requests", rate_advice},
    ForeignKey{"second", "requests", rate_advice},
    ForeignKey{"hour", "requests", rate_advice},
    ForeignKey{"connections", "requests", concurrent_advice},
    ForeignKey{"max_connections", "requests", concurrent_advice},
    ForeignKey{"nodelay", "requests", nodelay_advice},
    ForeignKey{"delay", "requests", nodelay_advice},
    ForeignKey{"zone", "requests", "the name of a limit is its key in the map limits"},
    ForeignKey{"read", "body_idle", "expected head or body_idle, for reading a request"},
    ForeignKey{"client", "body_idle", "expected head, body_idle or idle"},
    ForeignKey{"server", "body_idle", "expected response"},
    ForeignKey{"ssl", "tls", "expected tls: {certificate: shop.pem, key: shop.key}"},
    ForeignKey{"ssl_certificate", "tls", "expected tls: {certificate: shop.pem, key: shop.key}"},
    ForeignKey{"cert", "certificate", "expected certificate: with the path of a PEM file"},
    ForeignKey{"log_level", "log", "expected log: {level: info}"},
    ForeignKey{"error_log", "log", "expected log: {level: info}"},
    ForeignKey{"worker_processes", "workers", "expected workers: auto, or a number of threads"},
    ForeignKey{"threads", "workers", "expected workers: auto"},
    ForeignKey{"client_max_body_size", "max_body", "expected max_body: 10MiB"},
};

} // namespace

std::string_view advice_on_key(std::string_view key, std::span<const std::string_view> known) {
    const auto found = std::ranges::find_if(foreign_keys, [&](const ForeignKey& each) {
        return each.key == key &&
               (each.beside.empty() || std::ranges::find(known, each.beside) != known.end());
    });
    return found == foreign_keys.end() ? std::string_view{} : found->advice;
}

} // namespace stint::config
