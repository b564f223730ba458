// Reads the listeners: proxy listeners, the admin listener and the permits listener.
#include "config/fields/http2_rows.hpp"
#include "config/fields/shared_rows.hpp"
#include "config/values/addresses.hpp"
#include "config/values/values.hpp"

#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 2> half_close_words{"allow", "gone"};
constexpr std::uint64_t most_dynamic = 1'000'000; // for dynamic_limits, and for dynamic_locks
constexpr milliseconds shortest_ttl = std::chrono::seconds{1};
constexpr milliseconds longest_ttl = std::chrono::hours{24};
constexpr std::string_view an_address = "an address such as 0.0.0.0:8080";

void read_proxy_protocol(
    const Field& field, const Value& value, Listener& listener, LoadState& loading) {
    value.into(listener.proxy_protocol, field.expected, parse_bool);
    const TrustedProxies& trusted = loading.config.trusted_proxies;
    if (listener.proxy_protocol && trusted.networks.empty() && !trusted.unix_peers)
        value.wrong("needs trusted_proxies: from others no connection is taken");
}

// Parses redirect_http to the port of https: 443 for "true", 0 for "false", or a port.
Parsed<std::uint16_t> parse_redirect_http(std::string_view text) {
    if (text == "true" || text == "false")
        return static_cast<std::uint16_t>(text == "true" ? 443 : 0);
    const auto port = parse_count(text, 1, 65'535);
    if (!port)
        return ParseError{port.error().why + ", or true or false"};
    return static_cast<std::uint16_t>(*port);
}

Parsed<bool> parse_half_close(std::string_view text) {
    const auto word = parse_word(text, half_close_words);
    if (!word)
        return word.error();
    return *word == "allow";
}

using ListenerRow = Fields<Listener>;
constexpr std::array listener_table{
    address_row<Listener>(an_address, Reload::applies),
    mode_row<Listener>(Reload::applies),
    group_row<Listener>(Reload::applies),
    ListenerRow::other(
        {.key = "half_close",
         .about = "A client that closes its sending side before it has its response: it still gets "
                  "it, or is gone.",
         .expected = "allow or gone",
         .reload = Reload::new_connections},
        {.kind = FieldType::Kind::word, .words = half_close_words},
        [](const Field& field, const Value& value, Listener& listener, LoadState&) {
            value.into(listener.half_close_allowed, field.expected, parse_half_close);
        },
        [](const Field& field, const Listener& listener, const Config&, Shown::Map& members) {
            add(members, field.key, listener.half_close_allowed ? "allow" : "gone");
        }),
    http_row<Listener>(Reload::new_connections),
    h2c_row<Listener>(Reload::new_connections),
    http2_row<Listener>(Reload::new_connections),
    ListenerRow::other(
        {.key = "proxy_protocol",
         .about = "Each connection begins with a PROXY header that names its client. Only "
                  "trusted_proxies may connect.",
         .expected = true_or_false,
         .reload = Reload::new_connections},
        {.kind = FieldType::Kind::boolean},
        &read_proxy_protocol,
        [](const Field& field, const Listener& listener, const Config&, Shown::Map& members) {
            add(members, field.key, listener.proxy_protocol);
        }),
    tls_row<Listener>(Reload::new_connections),
    ListenerRow::other(
        {.key = "redirect_http",
         .about = "Every request gets a 308 redirect to https, at this port; true: 443.",
         .expected = "true, false or a port",
         .reload = Reload::new_connections},
        {.kind = FieldType::Kind::other, .name = "true, false, or 1 to 65535"},
        [](const Field& field, const Value& value, Listener& listener, LoadState&) {
            value.into(listener.https_port, field.expected, parse_redirect_http);
        },
        [](const Field& field, const Listener& listener, const Config&, Shown::Map& members) {
            const std::uint16_t port = listener.https_port;
            add(members, field.key,
                port == 0     ? Shown{false}
                : port == 443 ? Shown{true}
                              : Shown{port});
        }),
};

using AdminRow = Fields<Admin>;
constexpr std::uint64_t most_admin_connections = 10'000;
constexpr std::uint64_t most_metric_names = 1'000'000;
constexpr std::array<std::string_view, 3> may_be_open{"/metrics", "/healthz", "/readyz"};

void read_open_paths(const Field& field, const Value& value, Admin& admin, LoadState&) {
    const auto items = value.items(field.expected);
    if (!items)
        return;
    admin.open_paths.clear();
    for (const Value& item : *items) {
        const auto path = item.as("one of the paths", [](std::string_view text) {
            return parse_word(text, may_be_open);
        });
        if (!path)
            continue;
        if (std::ranges::find(admin.open_paths, *path) != admin.open_paths.end())
            item.wrong(in_quotes(*path) + " is listed already; remove one");
        admin.open_paths.push_back(*path);
    }
}

constexpr std::array admin_table{
    address_row<Admin>("an address such as 127.0.0.1:9901", Reload::restart),
    mode_row<Admin>(Reload::restart),
    group_row<Admin>(Reload::restart),
    hosts_row<Admin>(Reload::restart),
    token_file_row<Admin>(
        "A file with a token, which changes then need. It or read_only is required on an address "
        "other than loopback.",
        Reload::restart),
    AdminRow::other(
        {.key = "read_token_file",
         .about =
             "A file with a token, which reading then needs. The token for changes serves, too.",
         .expected = "the path of a file with a token",
         .otherwise = "none",
         .reload = Reload::restart},
        {.kind = FieldType::Kind::text, .name = "path of a file"},
        [](const Field& field, const Value& value, Admin& admin, LoadState& loading) {
            read_token_file(field, value, admin.read_token_file, loading);
        },
        [](const Field& field, const Admin& admin, const Config&, Shown::Map& members) {
            if (!admin.read_token_file.empty())
                add(members, field.key, absolute_file(admin.read_token_file));
        }),
    AdminRow::other(
        {.key = "open_paths",
         .about = "Paths that are read without a token in spite of `read_token_file`: /metrics, "
                  "/healthz, /readyz.",
         .expected = "a list such as [/metrics, /healthz]",
         .reload = Reload::restart},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "/metrics, /healthz or /readyz"},
        &read_open_paths,
        [](const Field& field, const Admin& admin, const Config&, Shown::Map& members) {
            Shown::List paths;
            for (const std::string& path : admin.open_paths)
                paths.emplace_back(path);
            add(members, field.key, std::move(paths));
        }),
    AdminRow::boolean<&Admin::read_only>(
        {.key = "read_only", .about = "Refuses all changes.", .reload = Reload::restart}),
    tls_row<Admin>(Reload::restart),
    http_row<Admin>(Reload::restart),
    h2c_row<Admin>(Reload::restart),
    http2_row<Admin>(Reload::restart),
    AdminRow::number<&Admin::max_connections>(
        {.key = "max_connections",
         .about = "The most connections open at once: one more closes the oldest.",
         .expected = "a number of connections",
         .reload = Reload::restart},
        1,
        most_admin_connections),
    AdminRow::number<&Admin::max_metric_names>(
        {.key = "max_metric_names",
         .about = "The most routes that have series of their own at /metrics; as many limits, "
                  "upstreams, endpoints, locks and cooldowns. The rest is summed as (other).",
         .expected = "off or a number of names",
         .reload = Reload::restart},
        1,
        most_metric_names,
        "off"),
};

using PermitsRow = Fields<Permits>;
constexpr std::array permits_table{
    address_row<Permits>("an address such as 127.0.0.1:8082", Reload::applies),
    mode_row<Permits>(Reload::applies),
    group_row<Permits>(Reload::applies),
    hosts_row<Permits>(Reload::applies),
    tls_row<Permits>(Reload::new_connections),
    http_row<Permits>(Reload::new_connections),
    h2c_row<Permits>(Reload::new_connections),
    http2_row<Permits>(Reload::new_connections),
    token_file_row<Permits>(
        "A file with a token that every request must then carry. Required on an address other than "
        "loopback.",
        Reload::applies),
    PermitsRow::number<&Permits::dynamic_limits>(
        {.key = "dynamic_limits",
         .about = "How many dynamic limits callers may create.",
         .expected = "a number of limits"},
        1,
        most_dynamic,
        "0"),
    PermitsRow::number<&Permits::dynamic_locks>(
        {.key = "dynamic_locks",
         .about = "How many locks callers may create by naming them, at a time.",
         .expected = "a number of locks"},
        1,
        most_dynamic,
        "0"),
    PermitsRow::duration<&Permits::max_ttl>(
        {.key = "max_ttl",
         .about = "The longest lease of a lock without a renewal.",
         .expected = "a duration such as 60s"},
        shortest_ttl,
        longest_ttl),
    PermitsRow::duration<&Permits::start_up_grace>(
        {.key = "start_up_grace",
         .about = "No lock is granted for this long after a start, if the leases from before it "
                  "are not known.",
         .expected = "a duration such as 60s, or 0s",
         .otherwise = "`max_ttl`"},
        milliseconds{1},
        longest_ttl,
        "0s"),
};

} // namespace

Table<Listener> listener_fields() {
    return listener_table;
}

Table<Admin> admin_fields() {
    return admin_table;
}

Table<Permits> permits_fields() {
    return permits_table;
}

void read_listeners(const Value& value, LoadState& loading) {
    const auto items = value.items("a list of listeners such as [{address: 0.0.0.0:8080}]");
    if (items && items->empty())
        value.wrong("is empty; expected at least one listener such as {address: 0.0.0.0:8080}");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        const auto section =
            open_section(item, listener_fields(), "a map such as {address: 0.0.0.0:8080}");
        if (!section)
            continue;
        Listener listener;
        read_fields(*section, listener_fields(), listener, loading);
        if (listener.tls && listener.tls->client_certificate != Tls::ClientCertificate::none)
            loading.asks_for_certificates = true;
        complete_http2(*section, listener.http2, listener.tls.has_value());
        if (listener.tls && listener.https_port != 0)
            section->wrong_at("redirect_http", "is for a listener without tls");
        if (read_address(*section, listener_fields().front(), listener.address, loading)) {
            read_socket_file(*section, listener.address);
            loading.config.listeners.push_back(std::move(listener));
        }
    }
}

void read_admin(const Value& value, LoadState& loading) {
    const auto section =
        open_section(value, admin_fields(), "a map such as {address: 127.0.0.1:9901}");
    if (!section)
        return;
    Admin admin;
    read_fields(*section, admin_fields(), admin, loading);
    complete_http2(*section, admin.http2, admin.tls.has_value());
    const auto reading = section->find("read_token_file");
    if (reading && !section->find("token_file") && !admin.read_only)
        reading->wrong("reading needs a token, and changes need none; expected a token_file, too, "
                       "or read_only: true");
    if (const auto address =
            read_address(*section, admin_fields().front(), admin.address, loading)) {
        if (!is_local(admin.address) && !section->find("token_file") && !admin.read_only)
            address->wrong(
                in_quotes(admin.address.text) +
                " can be reached from other machines; expected a token_file, read_only: true, or "
                "an address such as 127.0.0.1:9901");
        read_socket_file(*section, admin.address);
    }
    loading.config.admin = std::move(admin);
}

void read_permits(const Value& value, LoadState& loading) {
    const auto section =
        open_section(value, permits_fields(), "a map such as {address: 127.0.0.1:8082}");
    if (!section)
        return;
    Permits permits;
    read_fields(*section, permits_fields(), permits, loading);
    complete_http2(*section, permits.http2, permits.tls.has_value());
    if (const auto address =
            read_address(*section, permits_fields().front(), permits.address, loading)) {
        if (!is_local(permits.address) && !section->find("token_file"))
            address->wrong(
                in_quotes(permits.address.text) +
                " can be reached from other machines; expected a token_file, or an address such as "
                "127.0.0.1:8082");
        read_socket_file(*section, permits.address);
    }
    loading.config.permits = std::move(permits);
}

void show_listeners(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    Shown::List list;
    for (const Listener& listener : config.listeners)
        list.emplace_back(shown(listener_fields(), listener, config));
    if (!list.empty())
        add(members, field.key, std::move(list));
}

void show_admin(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    if (config.admin)
        add(members, field.key, shown(admin_fields(), *config.admin, config));
}

void show_permits(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    if (config.permits)
        add(members, field.key, shown(permits_fields(), *config.permits, config));
}

} // namespace stint::config
