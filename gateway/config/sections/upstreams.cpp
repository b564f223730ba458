// Upstreams, and the time-outs that they, the routes and the whole configuration set.
#include "config/sections/section_readers.hpp"
#include "config/values/addresses.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::array upstream_keys = std::to_array<std::string_view>(
    {"endpoints", "host", "tls", "resolve_interval", "timeouts", "cooldown", "balance", "hash_key",
     "slow_start", "ejection", "health", "when_all_down", "queue", "request", "response",
     "proxy_protocol", "retry"});
constexpr std::array<std::string_view, 3> proxy_protocols{"off", "v1", "v2"};
constexpr std::array<std::string_view, 7> timeout_keys{"head",     "body_idle",   "idle", "connect",
                                                       "response", "tunnel_idle", "drain"};
constexpr std::array<std::string_view, 4> upstream_timeout_keys{
    "body_idle", "connect", "response", "tunnel_idle"};
constexpr std::string_view a_timeout = "a duration such as 2s";

template <class Place>
void read_timeout(const Section& section, std::string_view key, Place& place) {
    if (const auto value = section.find(key))
        value->into(place, a_timeout, parse_timeout);
}

bool same_place(const Endpoint& a, const Endpoint& b) {
    return a.is_unix == b.is_unix && a.host == b.host && a.port == b.port;
}

void read_endpoints(const Value& value, Upstream& upstream) {
    const auto items = value.items("a list of endpoints such as [127.0.0.1:9000]");
    if (items && items->empty())
        value.wrong("is empty; expected at least one endpoint");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        auto endpoint = read_endpoint(item);
        if (!endpoint)
            continue;
        const bool repeated = std::any_of(
            upstream.endpoints.begin(), upstream.endpoints.end(),
            [&](const Endpoint& other) { return same_place(*endpoint, other); });
        if (repeated)
            item.wrong(in_quotes(endpoint->text) + " is listed already");
        upstream.endpoints.push_back(std::move(*endpoint));
    }
    if (upstream.endpoints.size() > most_endpoints)
        value.wrong("has more than " + std::to_string(most_endpoints) + " endpoints");
}

bool has_name(const Endpoint& endpoint) {
    return !endpoint.is_unix && is_host_name(endpoint.host);
}

void read_interval(const Section& section, Upstream& upstream) {
    read_timeout(section, "resolve_interval", upstream.resolve_interval);
    const auto& endpoints = upstream.endpoints;
    if (!endpoints.empty() && std::none_of(endpoints.begin(), endpoints.end(), has_name))
        section.wrong_at("resolve_interval", "has no use: no endpoint is a name");
}

void read_https(const Section& section, const LoadState& loading, Upstream& upstream) {
    const auto& endpoints = upstream.endpoints;
    const bool https = std::any_of(
        endpoints.begin(), endpoints.end(), [](const Endpoint& each) { return each.tls; });
    if (const auto tls = section.find("tls"))
        read_upstream_tls(*tls, loading, upstream.tls);
    if (!https && !endpoints.empty())
        section.wrong_at("tls", "has no use: no endpoint begins with https://");
    if (const auto list = section.find("endpoints"); list && !section.find("host"))
        name_https_host(*list, upstream);
}

Parsed<Upstream::ProxyProtocol> parse_proxy_protocol(std::string_view text) {
    const auto word = parse_word(text, proxy_protocols);
    if (!word)
        return word.error();
    const auto at = std::find(proxy_protocols.begin(), proxy_protocols.end(), *word);
    return static_cast<Upstream::ProxyProtocol>(at - proxy_protocols.begin());
}

void read_upstream(const Value& value, const LoadState& loading, Upstream& upstream) {
    const auto section =
        Section::open(value, upstream_keys, "a map such as {endpoints: [127.0.0.1:9000]}");
    if (!section)
        return;
    if (const auto endpoints = section->require("endpoints", "a list such as [127.0.0.1:9000]"))
        read_endpoints(*endpoints, upstream);
    if (const auto host = section->find("host"))
        host->into(upstream.host, "what to send as Host", parse_host_field);
    read_interval(*section, upstream);
    read_https(*section, loading, upstream);
    if (const auto timeouts = section->find("timeouts"))
        read_overrides(*timeouts, upstream.timeouts);
    if (const auto cooldown = section->find("cooldown"))
        read_cooldown(*cooldown, upstream.cooldown.emplace(), loading);
    if (const auto retry = section->find("retry"))
        read_retry(*retry, upstream.retry.emplace());
    read_balance(*section, upstream);
    check_subjects(*section, "hash_key", loading);
    read_shaping(*section, upstream.shaping, loading);
    if (const auto protocol = section->find("proxy_protocol"))
        protocol->into(upstream.proxy_protocol, "v1, v2 or off", parse_proxy_protocol);
}

} // namespace

void read_timeouts(const Value& value, Timeouts& timeouts) {
    const auto section = Section::open(value, timeout_keys, "a map such as {connect: 2s}");
    if (!section)
        return;
    read_timeout(*section, "head", timeouts.head);
    read_timeout(*section, "body_idle", timeouts.body_idle);
    read_timeout(*section, "idle", timeouts.idle);
    read_timeout(*section, "connect", timeouts.connect);
    read_timeout(*section, "response", timeouts.response);
    read_timeout(*section, "tunnel_idle", timeouts.tunnel_idle);
    read_timeout(*section, "drain", timeouts.drain);
}

void read_overrides(const Value& value, TimeoutOverrides& timeouts) {
    const auto section = Section::open(value, upstream_timeout_keys, "a map such as {connect: 2s}");
    if (!section)
        return;
    read_timeout(*section, "body_idle", timeouts.body_idle);
    read_timeout(*section, "connect", timeouts.connect);
    read_timeout(*section, "response", timeouts.response);
    read_timeout(*section, "tunnel_idle", timeouts.tunnel_idle);
}

void read_upstreams(const Value& value, LoadState& loading) {
    const auto entries = value.entries("a map of upstreams by name");
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
    constexpr std::size_t most_listed = 8;
    if (const auto at = names.find(name); at != names.end())
        return at->second.index;
    std::vector<std::string_view> known;
    for (const auto& [known_name, at] : names)
        known.push_back(known_name);
    std::string hint = did_you_mean(name, known);
    if (hint.empty() && known.empty())
        hint = "; none is defined";
    else if (hint.empty() && known.size() <= most_listed)
        hint = "; expected " + listed(known, "or");
    value.wrong(in_quotes(name) + " is not " + std::string{kind} + hint);
    return std::nullopt;
}

} // namespace stint::config
