// The meaning of an nginx configuration: zones, upstreams, and servers with their locations, each
// with the settings in force there.
#pragma once

#include "import/syntax/directive.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::import_nginx {

using Milliseconds = std::chrono::milliseconds;

// Pointers to directives refer to the parsed configuration, which outlives the model.

// limit_req_zone or limit_conn_zone.
struct Zone {
    std::string key{}; // with variables
    std::uint64_t requests = 0;
    bool per_minute = false; // else per second
    const Directive* at = nullptr;
};

// limit_req
struct RequestLimit {
    static constexpr std::uint64_t no_delay = std::numeric_limits<std::uint64_t>::max();

    std::string zone{};
    std::uint64_t burst = 0;
    std::uint64_t delay = 0; // so many requests of the burst go at once
    const Directive* at = nullptr;
};

// limit_conn
struct ConnectionLimit {
    std::string zone{};
    std::uint64_t number = 1;
    const Directive* at = nullptr;
};

struct HeaderField {
    std::string name{};
    std::string value{}; // with variables; may be a secret
    const Directive* at = nullptr;
    bool always = false; // add_header: with every status
};

// proxy_next_upstream with its number of tries.
struct NextUpstream {
    std::uint64_t tries = 0;       // 0: one for each endpoint
    const Directive* at = nullptr; // null: nginx's default

    [[nodiscard]] bool has(std::string_view condition) const {
        if (at == nullptr)
            return condition == "error" || condition == "timeout";
        return std::ranges::find(at->args, condition) != at->args.end();
    }
};

// proxy_ssl_*
struct UpstreamTls {
    std::string ca{}, crl{}, name{}, certificate{}, key{}; // "": not set
    std::optional<bool> verify{};

    friend auto operator<=>(const UpstreamTls&, const UpstreamTls&) = default;
};

// allow or deny
struct AccessRule {
    bool allow = false;
    std::string network{}; // "all", or an address or network
    const Directive* at = nullptr;
};

// The settings in force in a http, server or location block: its own, and those of the block around
// it.
struct Settings {
    std::vector<RequestLimit> request_limits{};
    std::vector<ConnectionLimit> connection_limits{};
    std::vector<HeaderField> request_headers{};  // proxy_set_header
    std::vector<HeaderField> response_headers{}; // add_header
    std::vector<HeaderField> hidden_headers{};   // proxy_hide_header; without values
    std::vector<AccessRule> access{};
    int request_status = 503;
    int connection_status = 503;
    bool request_dry_run = false;
    bool connection_dry_run = false;
    bool default_redirect = true;       // nginx changes Location as proxy_redirect does by default
    std::uint64_t max_body = 1U << 20U; // bytes; 0: no bound
    Milliseconds connect{60'000};
    Milliseconds read{60'000};
    Milliseconds send{60'000};
    Milliseconds client_body{60'000};
    Milliseconds client_send{60'000};
    NextUpstream next_upstream;
    UpstreamTls tls{};
    std::string content_type{"text/plain"};
    // Directives, by name, by which nginx asks for more than an address before it serves:
    // auth_basic, an `if` that refuses. The draft refuses such requests.
    std::map<std::string, const Directive*> guards{};
    const Directive* files = nullptr; // root, alias, try_files and the like
};

// True for a guard of nginx's rewrite phase, which `return` belongs to, too: one that stands before
// a `return` refuses before it answers.
[[nodiscard]] inline bool is_rewrite_guard(std::string_view directive) {
    return directive == "if" || directive.starts_with("rewrite_by_lua");
}

// Returns the guard that nginx comes to before it answers by `return`; null if there is none.
[[nodiscard]] inline const Directive* guard_of_return(const Settings& settings) {
    for (const auto& [name, directive] : settings.guards)
        if (is_rewrite_guard(name))
            return directive;
    return nullptr;
}

// The directive that answers a location's requests.
struct Action {
    enum class Kind : std::uint8_t { none, proxy, answer, internal };

    Kind kind = Kind::none;
    const Directive* at = nullptr;
    const Directive* rewrite = nullptr; // changes the path before it is sent (`break`)
};

struct Location {
    enum class Kind : std::uint8_t { exact, prefix, prefix_first, regex, named };

    Kind kind = Kind::prefix;
    bool ignore_case = false; // for a regex
    std::string pattern{};
    Settings settings{};
    Action action{};
    std::vector<Location> nested{};
    const Directive* at = nullptr;
};

// listen
struct Listen {
    std::string address{}; // as Stint writes it: "0.0.0.0:80", "[::]:80", "unix:/path"
    bool tls = false;
    bool http2 = false;
    bool proxy_protocol = false;
    bool is_default = false;
    bool local = false; // only this machine reaches it
    const Directive* at = nullptr;
};

// ssl_verify_client, and the certificates by which nginx verifies those of clients.
struct ClientVerification {
    std::string ca{};              // ssl_client_certificate
    std::string trusted{};         // ssl_trusted_certificate: verifies, and is not told to clients
    std::string mode{};            // "", "on", "optional"
    const Directive* at = nullptr; // ssl_verify_client
    const Directive* authority_at = nullptr; // the directive that authority() is of

    [[nodiscard]] const std::string& authority() const noexcept {
        return ca.empty() ? trusted : ca;
    }
    [[nodiscard]] bool asks() const noexcept { return !mode.empty() && !authority().empty(); }
};

// ssl_protocols
struct Protocols {
    std::vector<std::string> words{}; // empty: nginx's own
    const Directive* at = nullptr;

    [[nodiscard]] bool has(std::string_view word) const {
        return words.empty() || std::ranges::find(words, word) != words.end();
    }
};

// A name of server_name.
struct ServerName {
    std::string text{};
    const Directive* at = nullptr;
};

struct Server {
    std::vector<ServerName> names{};
    std::vector<Listen> listens{};
    std::vector<std::pair<std::string, std::string>> certificates{}; // certificate, key
    std::string staple{};                                            // ssl_stapling_file
    ClientVerification clients{};
    const Directive* unverifiable = nullptr; // ssl_verify_client without any certificate for it
    Protocols protocols{};
    const Directive* rejects_handshake = nullptr; // ssl_reject_handshake on
    bool http2 = false;                           // http2 on
    Settings settings{};
    Action action{}; // answers all its requests, before any location
    // `if ($host = NAME) { return ... }`: names that are answered otherwise.
    std::vector<std::pair<std::string, const Directive*>> answers_by_host{};
    std::vector<Location> locations{};
    std::vector<Location> named{}; // location @NAME
    const Directive* at = nullptr;

    // The first name; "" if there is none.
    [[nodiscard]] std::string first_name() const {
        return names.empty() ? std::string{} : names.front().text;
    }
};

struct UpstreamServer {
    std::string address{};
    std::uint64_t weight = 1;
    std::uint64_t max_connections = 0; // 0: no bound
    const Directive* at = nullptr;
};

struct UpstreamGroup {
    std::vector<UpstreamServer> servers{};
    std::string balance{}; // "", "least_conn", "hash"
    std::string hash_key{};
    const Directive* hash_at = nullptr; // hash or ip_hash
    std::optional<std::uint64_t> max_fails{};
    std::optional<Milliseconds> fail_timeout{};
    const Directive* at = nullptr;
};

// map or geo
struct Table {
    bool by_address = false; // geo: entries are networks; in a map they are texts
    std::string source{};    // a text with variables; in a geo the client's address
    std::vector<std::pair<std::string, std::string>> entries{};
    std::optional<std::string> other{}; // default
};

// set_real_ip_from and real_ip_header
struct RealIp {
    struct Trusted {
        std::string network{}; // "unix", or as in set_real_ip_from
        const Directive* at = nullptr;
    };

    std::vector<Trusted> trusted{};
    std::string header{};
    bool recursive = false;
    const Directive* header_at = nullptr;
};

struct Model {
    std::map<std::string, Zone> request_zones{};
    std::map<std::string, Zone> connection_zones{};
    std::map<std::string, UpstreamGroup> upstreams{};
    std::map<std::string, Table> tables{}; // by variable
    std::map<std::string, std::string>
        setters{}; // `set`: variable, constant; "$" if it has several
    std::vector<Server> servers{};
    Settings settings{};          // those of the http block
    ClientVerification clients{}; // where a server does not say otherwise
    // ssl_certificate and ssl_certificate_key of servers that have none.
    std::vector<std::pair<std::string, std::string>> certificates{};
    Protocols protocols{};
    RealIp real_ip;
    std::string access_log{}; // its path; "": nginx's own; "off"
    std::string log_level{};
    Milliseconds head{60'000};
    Milliseconds idle{75'000};
    std::optional<std::uint64_t> max_head{};   // bytes: large_client_header_buffers
    std::optional<std::uint64_t> max_target{}; // the size of one buffer
    bool merge_slashes = true;
    std::string folder{}; // folder of the main file: relative paths begin there
};

} // namespace stint::import_nginx
