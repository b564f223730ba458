// Reads upstreams.
#include "config/fields/shared_rows.hpp"
#include "config/values/addresses.hpp"
#include "config/values/key_values.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 3> proxy_protocols{"off", "v1", "v2"};
constexpr std::array<std::string_view, 3> ways{"round_robin", "least_requests", "hash"};
constexpr std::array<std::string_view, 2> when_all_down{"503", "fail_open"};

bool same_place(const Endpoint& a, const Endpoint& b) {
    return a.is_unix == b.is_unix && a.host == b.host && a.port == b.port;
}

void read_endpoints(const Field&, const Value& value, Upstream& upstream, LoadState& loading) {
    const auto items = value.items("a list of endpoints such as [127.0.0.1:9000]");
    if (items && items->empty())
        value.wrong("is empty; expected at least one endpoint such as 127.0.0.1:9000");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        auto endpoint = read_endpoint(item, loading);
        if (!endpoint)
            continue;
        const bool repeated = std::any_of(
            upstream.endpoints.begin(), upstream.endpoints.end(),
            [&](const Endpoint& other) { return same_place(*endpoint, other); });
        if (repeated)
            item.wrong(in_quotes(endpoint->text) + " is listed already; remove one");
        upstream.endpoints.push_back(std::move(*endpoint));
    }
    if (upstream.endpoints.size() > most_endpoints)
        value.wrong("has more than " + std::to_string(most_endpoints) + " endpoints");
}

bool has_name(const Endpoint& endpoint) {
    return !endpoint.is_unix && is_host_name(endpoint.host);
}

bool is_bounded(const Endpoint& endpoint) {
    return endpoint.max_requests > 0;
}

using UpstreamRow = Fields<Upstream>;
constexpr std::array upstream_table{
    UpstreamRow::map(
        {.key = "endpoints",
         .about = "Its servers: addresses, or maps with an address and its settings; up to 64.",
         .expected = "a list such as [127.0.0.1:9000]",
         .required = true},
        "list of endpoints",
        &read_endpoints,
        [](const Field& field,
           const Upstream& upstream,
           const Config& config,
           Shown::Map& members) {
            Shown::List list;
            for (const Endpoint& endpoint : upstream.endpoints)
                list.push_back(shown_endpoint(endpoint, config));
            add(members, field.key, std::move(list));
        }),
    UpstreamRow::text<&Upstream::host, &parse_host_field>(
        {.key = "host",
         .about = "The Host sent to the upstream.",
         .expected = "what to send as Host",
         .otherwise = "the client's; for https://name endpoints that name"},
        "HOST or HOST:port"),
    UpstreamRow::map(
        {.key = "tls",
         .about = "For https:// endpoints.",
         .otherwise = "verified by the system's store"},
        "map",
        [](const Field&, const Value& value, Upstream& upstream, LoadState& loading) {
            read_upstream_tls(value, loading, upstream.tls);
        },
        &show_upstream_tls),
    UpstreamRow::shown_by(
        UpstreamRow::duration<&Upstream::resolve_interval>(
            {.key = "resolve_interval",
             .about = "How often endpoint names are resolved again.",
             .expected = "a duration such as 2s"}),
        [](const Field& field, const Upstream& upstream, const Config&, Shown::Map& members) {
            if (std::ranges::any_of(upstream.endpoints, has_name))
                add(members, field.key, upstream.resolve_interval);
        }),
    timeouts_row<Upstream>("those of the top level"),
    UpstreamRow::map(
        {.key = "cooldown",
         .about = "Pauses requests after the upstream has answered 429 or 503 with Retry-After.",
         .otherwise = "`off`"},
        "on, off, or map",
        [](const Field&, const Value& value, Upstream& upstream, LoadState& loading) {
            read_cooldown(value, upstream.cooldown.emplace(), loading);
        },
        [](const Field& field,
           const Upstream& upstream,
           const Config& config,
           Shown::Map& members) {
            add(members, field.key, shown_cooldown(upstream.cooldown, config));
        }),
    retry_row<Upstream>("`off`"),
    UpstreamRow::word<inside<&Upstream::load, &LoadBalance::how>>(
        {.key = "balance",
         .about =
             "Smooth weighted round robin, the least requests in flight by weight, or rendezvous "
             "hashing by hash_key.",
         .expected = "round_robin, least_requests or hash"},
        ways),
    UpstreamRow::other(
        {.key = "hash_key",
         .about = "The key that hash uses, as of a limit. Requests without it use their client's "
                  "address.",
         .otherwise = "`client_ip`"},
        {.kind = FieldType::Kind::text, .name = "source of a key, or list of them"},
        nullptr,
        [](const Field& field, const Upstream& upstream, const Config&, Shown::Map& members) {
            if (upstream.load.how != LoadBalance::How::hash)
                return;
            add(members, field.key, shown_sources(upstream.hash_key));
        }),
    UpstreamRow::shown_by(
        UpstreamRow::duration<[](auto& upstream) -> auto& { return upstream.load.slow_start; }>(
            {.key = "slow_start",
             .about =
                 "After an endpoint has come back its weight grows to its full value over this "
                 "time.",
             .expected = "a duration such as 10s",
             .otherwise = "`off`"}),
        [](const Field& field, const Upstream& upstream, const Config&, Shown::Map& members) {
            if (upstream.load.slow_start.count() > 0)
                add(members, field.key, upstream.load.slow_start);
        }),
    UpstreamRow::map(
        {.key = "ejection",
         .about = "A circuit breaker for each endpoint.",
         .expected = "on, off or a map such as {failures: 5, for: 10s}",
         .otherwise = "`on`"},
        "on, off, or map",
        &read_ejection,
        &show_ejection),
    UpstreamRow::map(
        {.key = "health", .about = "Active checks of each endpoint.", .otherwise = "`off`"},
        "map",
        &read_health,
        &show_health),
    UpstreamRow::word<inside<&Upstream::load, &LoadBalance::fail_open>>(
        {.key = "when_all_down",
         .about = "While no endpoint is up requests get 503, or are sent all the same.",
         .expected = "503 or fail_open"},
        when_all_down),
    UpstreamRow::map(
        {.key = "queue",
         .about = "Requests that wait while all endpoints are at their max_requests.",
         .expected = "a map such as {max_wait: 1s}",
         .otherwise = "see below"},
        "map",
        [](const Field& field, const Value& value, Upstream& upstream, LoadState& loading) {
            if (const auto section = open_section(value, queue_fields(), field.expected))
                read_fields(*section, queue_fields(), upstream.load.queue, loading);
        },
        [](const Field& field,
           const Upstream& upstream,
           const Config& config,
           Shown::Map& members) {
            if (std::ranges::any_of(upstream.endpoints, is_bounded))
                add(members, field.key, shown(queue_fields(), upstream.load.queue, config));
        }),
    edits_row<Upstream, EditedHead::request>("request"),
    edits_row<Upstream, EditedHead::response>("response"),
    UpstreamRow::word<&Upstream::proxy_protocol>(
        {.key = "proxy_protocol",
         .about = "Each connection begins with a PROXY header that names the client.",
         .expected = "v1, v2 or off"},
        proxy_protocols),
};

void check_interval(const Section& section, const Upstream& upstream) {
    const auto& endpoints = upstream.endpoints;
    if (!endpoints.empty() && std::none_of(endpoints.begin(), endpoints.end(), has_name))
        section.wrong_at("resolve_interval", "has no use: no endpoint is a name");
}

void check_https(const Section& section, Upstream& upstream) {
    const auto& endpoints = upstream.endpoints;
    const bool https = std::any_of(
        endpoints.begin(), endpoints.end(), [](const Endpoint& each) { return each.tls; });
    if (!https && !endpoints.empty())
        section.wrong_at("tls", "has no use: no endpoint begins with https://");
    if (const auto list = section.find("endpoints"); list && !section.find("host"))
        name_https_host(*list, upstream);
}

void read_hash_key(const Section& section, Upstream& upstream, const LoadState& loading) {
    const auto key = section.find("hash_key");
    if (key && upstream.load.how != LoadBalance::How::hash) {
        section.wrong_at("hash_key", "is only for balance: hash");
    } else if (key) {
        upstream.hash_key.clear();
        read_key_sources(*key, upstream.hash_key);
    }
    check_subjects(section, "hash_key", loading);
}

void check_queue(const Section& section, const Upstream& upstream) {
    if (std::ranges::none_of(upstream.endpoints, is_bounded))
        section.wrong_at("queue", "has no use: no endpoint of this upstream has max_requests");
}

void read_upstream(const Value& value, LoadState& loading, Upstream& upstream) {
    const auto section =
        open_section(value, upstream_fields(), "a map such as {endpoints: [127.0.0.1:9000]}");
    if (!section)
        return;
    read_fields(*section, upstream_fields(), upstream, loading);
    check_interval(*section, upstream);
    check_https(*section, upstream);
    read_hash_key(*section, upstream, loading);
    check_queue(*section, upstream);
}

// Returns the end of the error about a name that is not among `names`: a similar name or the list
// of `names`, if it is short; else "".
std::string hint_for(std::string_view name, const LoadState::Names& names, Diagnostics& report) {
    constexpr std::size_t most_listed = 8;
    if (names.empty())
        return "; none is defined; define it by its name at the top level";
    if (!report.may_compare(names.size()))
        return {};
    std::vector<std::string_view> known;
    for (const auto& [known_name, at] : names)
        known.push_back(known_name);
    std::string hint = did_you_mean(name, known);
    return hint.empty() && known.size() <= most_listed ? "; expected " + listed(known, "or") : hint;
}

} // namespace

Table<Upstream> upstream_fields() {
    return upstream_table;
}

void show_upstreams(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    Shown::Map upstreams;
    for (const Upstream& upstream : config.upstreams)
        add(upstreams, upstream.name, shown(upstream_fields(), upstream, config));
    add(members, field.key, std::move(upstreams));
}

void read_upstreams(const Value& value, LoadState& loading) {
    const auto entries =
        value.entries("a map of upstreams by name such as {shop: {endpoints: [127.0.0.1:9000]}}");
    for (const Value::Named& entry : entries.value_or(std::vector<Value::Named>{})) {
        if (const auto name = parse_name(entry.name); !name)
            entry.key.wrong(name.error().why);
        Upstream upstream;
        upstream.name = std::string{entry.name};
        read_upstream(entry.value, loading, upstream);
        loading.upstreams.try_emplace(
            upstream.name,
            LoadState::NamedAt{loading.config.upstreams.size(), entry.key.mark().line});
        loading.config.upstreams.push_back(std::move(upstream));
    }
}

std::optional<std::size_t> find_name(
    const Value& value,
    std::string_view name,
    const LoadState::Names& names,
    std::string_view kind) {
    if (const auto at = names.find(name); at != names.end())
        return at->second.index;
    value.wrong(
        in_quotes(name) + " is not " + std::string{kind} + hint_for(name, names, value.report()));
    return std::nullopt;
}

} // namespace stint::config
