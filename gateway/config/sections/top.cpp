// Reads the top level of a configuration.
#include "config/fields/shared_rows.hpp"
#include "config/fields/tables.hpp"
#include "config/sections/section_readers.hpp"
#include "config/values/bounds.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <array>
#include <optional>

namespace stint::config {

namespace {

constexpr std::uint64_t most_workers = 1024;
constexpr std::uint64_t most_connections = 1'000'000;
constexpr std::uint64_t most_requests = 1'000'000;
constexpr std::uint64_t fewest_fields = 8;
constexpr std::uint64_t most_fields = 1000;
constexpr std::size_t longest_pseudonym = 64;
constexpr std::array<std::string_view, 5> log_levels{"trace", "debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 2> encoded_slashes{"keep", "refuse"};
constexpr std::array<std::string_view, 2> absolute_forms{"refuse", "route"};

Parsed<std::string> parse_level(std::string_view text) {
    return parse_word(text, log_levels);
}

// Parses the name for Via (RFC 9110 section 7.6.3): a pseudonym is a token. "off" gives "".
Parsed<std::string> parse_via(std::string_view text) {
    if (text == "off")
        return std::string{};
    if (!is_token(text) || text.size() > longest_pseudonym)
        return ParseError{
            in_quotes(text) + " is no name for Via; expected off, or up to 64 letters, digits and "
                              "characters such as - and . in a name such as edge-1"};
    return std::string{text};
}

using TopRow = Fields<Config>;

constexpr std::array log_table{
    TopRow::other(
        {.key = "level",
         .about = "The least severe messages that are logged.",
         .expected = "a level such as info"},
        {.kind = FieldType::Kind::word, .words = log_levels},
        [](const Field& field, const Value& value, Config& config, LoadState&) {
            value.into(config.log_level, field.expected, parse_level);
        },
        [](const Field&, const Config& config, const Config&, Shown::Map& members) {
            add(members, "level", config.log_level);
        }),
};

constexpr std::array config_table{
    TopRow::number<inside<&Config::workers, &Workers::count>>(
        {.key = "workers",
         .about = "Worker threads that serve traffic; auto: one for each core that the process may "
                  "use.",
         .expected = "auto or a number of threads",
         .reload = Reload::restart},
        1,
        most_workers,
        "auto"),
    TopRow::boolean<inside<&Config::workers, &Workers::pin>>(
        {.key = "pin_workers", .about = "Pins each worker to a core.", .reload = Reload::restart}),
    TopRow::map(
        {.key = "listeners",
         .about = "Where clients connect. Needed unless permits is set.",
         .expected = "a list of addresses to listen on",
         .otherwise = "*required*",
         .reload = Reload::new_connections},
        "list of listeners",
        nullptr,
        &show_listeners),
    TopRow::map(
        {.key = "admin",
         .about = "The admin listener. Without it there is no /metrics either.",
         .otherwise = "none",
         .reload = Reload::restart},
        "map",
        nullptr,
        &show_admin),
    TopRow::map(
        {.key = "permits",
         .about = "A listener for callers whose traffic does not pass through Stint.",
         .otherwise = "none"},
        "map",
        nullptr,
        &show_permits),
    TopRow::map(
        {.key = "state",
         .about = "The file that keeps counts over a restart.",
         .otherwise = "none",
         .reload = Reload::restart},
        "path of a file, or map",
        nullptr,
        &show_state),
    TopRow::map(
        {.key = "stores",
         .about = "Servers in which several gateways divide their limits, by name.",
         .otherwise = "none"},
        "map by name",
        nullptr,
        &show_stores),
    TopRow::text<&Config::gateway_id, parse_name_in_store>(
        {.key = "gateway_id",
         .about =
             "This gateway's name in the stores, which no other gateway has: up to 64 letters, "
             "digits, -, _ and .; it is not a secret.",
         .expected = "a name such as edge-1",
         .otherwise = "made at the first start, and kept in `state`"},
        "name"),
    TopRow::section<&Config::timeouts, &timeout_fields>(
        {.key = "timeouts",
         .about = "The most time that things may take.",
         .expected = "a map such as {connect: 2s}",
         .otherwise = "see below"},
        "map"),
    TopRow::number<inside<&Config::load, &LoadBounds::max_connections>>(
        {.key = "max_connections",
         .about = "The most client connections open at once, over all listeners and workers.",
         .expected = "a number of connections"},
        1,
        most_connections),
    TopRow::number<inside<&Config::load, &LoadBounds::max_connections_per_client>>(
        {.key = "max_connections_per_client",
         .about =
             "The same for each client: an address, or a network of ipv4_prefix or ipv6_prefix "
             "bits.",
         .expected = "off or a number of connections",
         .reload = Reload::new_connections},
        1,
        most_connections,
        "off"),
    TopRow::number<inside<&Config::load, &LoadBounds::max_requests_in_flight>>(
        {.key = "max_requests_in_flight",
         .about =
             "The most requests to listeners under way at once, over all connections and workers "
             "(else 503).",
         .expected = "off or a number of requests"},
        1,
        most_requests,
        "off"),
    TopRow::map(
        {.key = "min_rate",
         .about = "The rate at which a client must send, at least.",
         .otherwise = "see below"},
        "off, or map",
        [](const Field&, const Value& value, Config& config, LoadState& loading) {
            read_min_rate(value, config.min_rate, loading);
        },
        [](const Field& field, const Config& config, const Config&, Shown::Map& members) {
            add(members, field.key, shown(min_rate_fields(), config.min_rate, config));
        }),
    TopRow::size<inside<&Config::heads, &HeadBounds::max_head>>(
        {.key = "max_head",
         .about = "The longest head, of a request (else 431) or of a response (else 502).",
         .expected = "a size such as 16KiB"},
        smallest_head,
        largest_head),
    TopRow::size<inside<&Config::heads, &HeadBounds::max_target>>(
        {.key = "max_target",
         .about = "The longest request target (else 414). It must also fit into max_head.",
         .expected = "a size such as 8KiB"},
        smallest_head,
        largest_head),
    TopRow::number<inside<&Config::heads, &HeadBounds::max_fields>>(
        {.key = "max_fields",
         .about = "The most fields of a head, of a request (else 431) or of a response (else 502).",
         .expected = "a number of fields"},
        fewest_fields,
        most_fields),
    max_body_row<Config>("`off`"),
    TopRow::boolean<inside<&Config::paths, &PathRules::merge_slashes>>(
        {.key = "merge_slashes", .about = "Runs of / in a path count as one."}),
    TopRow::word<inside<&Config::paths, &PathRules::refuse_encoded_slashes>>(
        {.key = "encoded_slashes",
         .about = "%2F in a path is data, or such a path gets 400.",
         .expected = "keep or refuse"},
        encoded_slashes),
    TopRow::word<inside<&Config::paths, &PathRules::routes_absolute_form>>(
        {.key = "absolute_form",
         .about =
             "Absolute-form targets for hosts that no route names: they get 421, or are matched "
             "to the routes for any host.",
         .expected = "refuse or route"},
        absolute_forms),
    TopRow::other(
        {.key = "via",
         .about = "The name under which Stint adds itself to a request's Via; off: it adds no Via.",
         .expected = "off, or a name such as edge-1",
         .otherwise = "`stint`"},
        {.kind = FieldType::Kind::text, .zero = "off", .name = "name of up to 64 characters"},
        [](const Field& field, const Value& value, Config& config, LoadState&) {
            value.into(config.hop.via, field.expected, parse_via);
        },
        [](const Field& field, const Config& config, const Config&, Shown::Map& members) {
            const std::string name = config.hop.via.value_or(default_pseudonym);
            add(members, field.key, name.empty() ? "off" : name);
        }),
    TopRow::boolean<inside<&Config::hop, &HopFields::forwarded>>(
        {.key = "forwarded",
         .about =
             "Requests are sent with Forwarded (RFC 7239), beside X-Forwarded-For and the like."}),
    TopRow::other(
        {.key = "client_ip_header",
         .about = "The header in which trusted proxies name the client.",
         .expected = "the name of a header such as X-Forwarded-For",
         .otherwise = "`X-Forwarded-For`"},
        {.kind = FieldType::Kind::text, .name = "name of a header"},
        nullptr,
        &show_client_ip_header),
    TopRow::other(
        {.key = "trusted_proxies",
         .about =
             "Peers that are trusted for the client's address; unix: the peers of Unix sockets.",
         .expected = "a list of networks such as [10.0.0.0/8]",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "networks, addresses and unix"},
        &read_peers,
        &show_trusted_proxies),
    TopRow::other(
        {.key = "trusted_fields",
         .about = "Header fields that reach the upstream only from trusted_proxies; a * at the end "
                  "stands for any rest.",
         .expected = "a list of headers such as [X-Forwarded-*, X-Real-IP]"},
        {.kind = FieldType::Kind::text,
         .is_list = true,
         .most_items = most_trusted_fields,
         .name = "names of headers"},
        &read_trusted_fields,
        [](const Field& field, const Config& config, const Config&, Shown::Map& members) {
            add(members, field.key, list_of(config.trusted_proxies.fields));
        }),
    ipv4_prefix_row<Config>(
        "Bits of an IPv4 address that identify one client, for limits that set none themselves."),
    ipv6_prefix_row<Config>(
        "Bits of an IPv6 address that identify one client, for limits that set none themselves."),
    TopRow::section<&Config::access_log, &access_log_fields>(
        {.key = "access_log",
         .about = "One line for each request.",
         .expected = "a map such as {path: stdout}",
         .otherwise = "see below"},
        "map"),
    TopRow::map(
        {.key = "log",
         .about = "The operational log on standard error.",
         .expected = "a map such as {level: info}",
         .otherwise = "see below"},
        "map",
        [](const Field& field, const Value& value, Config& config, LoadState& loading) {
            if (const auto section = open_section(value, log_fields(), field.expected))
                read_fields(*section, log_fields(), config, loading);
        },
        [](const Field& field, const Config& config, const Config&, Shown::Map& members) {
            add(members, field.key, shown(log_fields(), config, config));
        }),
    TopRow::boolean<&Config::watch>(
        {.key = "watch",
         .about = "Reloads when the configuration file, or a file that it names, has changed."}),
    headers_row<Config>("`off`"),
    TopRow::map(
        {.key = "upstreams", .about = "Where requests are sent, by name.", .otherwise = "none"},
        "map by name",
        nullptr,
        &show_upstreams),
    TopRow::map(
        {.key = "limits",
         .about = "Limits that several routes share, by name.",
         .otherwise = "none"},
        "map by name",
        nullptr,
        &show_limits),
    TopRow::map(
        {.key = "locks", .about = "Locks, by name. Needs permits.", .otherwise = "none"},
        "map by name",
        nullptr,
        &show_locks),
    TopRow::map(
        {.key = "routes",
         .about = "Which requests go where, and their limits. Needed unless permits is set; [] for "
                  "none.",
         .expected = "a list of routes, [] for none",
         .otherwise = "*required*"},
        "list of routes",
        nullptr,
        &show_routes),
};

// Finds a key that is required unless `permits` is configured; reports it if it is missing.
std::optional<Value> find_unless_permits(const Section& top, std::string_view key) {
    for (const Field& field : config_fields())
        if (field.key == key)
            return top.find("permits") ? top.find(key) : top.require(key, field.expected);
    return std::nullopt;
}

} // namespace

Table<Config> config_fields() {
    return config_table;
}

Table<Config> log_fields() {
    return log_table;
}

void read_top(const Section& top, LoadState& loading) {
    read_fields(top, config_fields(), loading.config, loading);
    read_client_ip_header(top, loading.config.trusted_proxies);
    if (const auto listeners = find_unless_permits(top, "listeners"))
        read_listeners(*listeners, loading);
    if (const auto admin = top.find("admin"))
        read_admin(*admin, loading);
    if (const auto permits = top.find("permits"))
        read_permits(*permits, loading);
    if (const auto state = top.find("state"))
        read_state(*state, loading);
    if (const auto stores = top.find("stores"))
        read_stores(*stores, loading);
    if (const auto upstreams = top.find("upstreams"))
        read_upstreams(*upstreams, loading);
    if (const auto limits = top.find("limits"))
        read_named_limits(*limits, loading);
    if (const auto locks = top.find("locks"))
        read_locks(top, *locks, loading);
    if (const auto routes = find_unless_permits(top, "routes"))
        read_routes(*routes, loading);
}

} // namespace stint::config
