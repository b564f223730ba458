#include "admin/config_json.hpp"

#include "admin/endpoints.hpp"
#include "admin/shaping_json.hpp"
#include "admin/tls_json.hpp"
#include "base/lock_names.hpp"
#include "config/values/key_values.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace stint::admin {
namespace {

std::string_view fields_text(config::Headers::Fields fields) {
    switch (fields) {
    case config::Headers::Fields::off:
        return "off";
    case config::Headers::Fields::loading:
        return "draft";
    case config::Headers::Fields::legacy:
        return "legacy";
    case config::Headers::Fields::both:
        return "both";
    }
    return {};
}

Json headers_json(const config::Headers& headers) {
    const bool unprefixed = headers.prefix == config::Headers::Prefix::ratelimit;
    const bool epoch = headers.reset == config::Headers::Reset::epoch;
    return {
        {"fields", fields_text(headers.fields)},
        {"legacy_prefix", unprefixed ? "RateLimit" : "X-RateLimit"},
        {"legacy_reset", epoch ? "epoch" : "delta"}};
}

// Adds a limit's refusal settings.
void add_refusal_json(const config::Limit& limit, Json& json) {
    if (limit.headers)
        json["headers"] = fields_text(*limit.headers);
    json["status"] = limit.status;
    if (limit.body)
        json["body"] = {{"content_type", limit.body->content_type}, {"text", limit.body->text}};
    if (limit.retry_after_jitter.count() > 0)
        json["retry_after_jitter_ms"] = limit.retry_after_jitter.count();
}

// Returns a listener's address, and mode and group of its socket file.
Json address_json(const config::Address& address) {
    Json json{{"address", address.text}};
    if (address.kind != config::Address::Kind::unix_socket)
        return json;
    std::string mode{"0000"};
    for (std::size_t i = 0; i < 3; ++i)
        mode[3 - i] = static_cast<char>('0' + (address.mode >> 3 * i & 7U));
    json["mode"] = std::move(mode);
    if (!address.group.empty())
        json["group"] = address.group;
    return json;
}

Json listeners_json(const config::Config& config) {
    Json listeners = Json::array();
    for (const config::Listener& listener : config.listeners) {
        Json json = address_json(listener.address);
        json.update(
            {{"half_close", listener.half_close_allowed ? "allow" : "gone"},
             {"proxy_protocol", listener.proxy_protocol},
             {"tls", tls_json(listener.tls)},
             {"redirect_http", listener.https_port == 0     ? Json(false)
                               : listener.https_port == 443 ? Json(true)
                                                            : Json(listener.https_port)}});
        listeners.push_back(std::move(json));
    }
    return listeners;
}

Json admin_json(const config::Admin& admin) {
    Json json = address_json(admin.address);
    json["hosts"] = admin.hosts;
    if (!admin.token_file.empty())
        json["token_file"] = admin.token_file;
    json["read_only"] = admin.read_only;
    json["tls"] = tls_json(admin.tls);
    return json;
}

Json permits_json(const config::Permits& permits) {
    Json json = address_json(permits.address);
    json["hosts"] = permits.hosts;
    if (!permits.token_file.empty())
        json["token_file"] = permits.token_file;
    json["dynamic_limits"] = permits.dynamic_limits;
    json["dynamic_locks"] = permits.dynamic_locks;
    json["max_ttl_ms"] = permits.max_ttl.count();
    json["start_up_grace_ms"] = permits.start_up_grace.value_or(permits.max_ttl).count();
    return json;
}

Json state_json(const std::optional<config::State>& state) {
    if (!state)
        return "off";
    return {
        {"file", state->file.empty() ? Json("off") : Json(state->file)},
        {"on_start", state->closed_on_start ? "closed" : "open"}};
}

Json default_timeouts_json(const config::Timeouts& timeouts) {
    return {{"head_ms", timeouts.head.count()},
            {"body_idle_ms", timeouts.body_idle.count()},
            {"idle_ms", timeouts.idle.count()},
            {"connect_ms", timeouts.connect.count()},
            {"response_ms", timeouts.response.count()},
            {"tunnel_idle_ms", timeouts.tunnel_idle.count()},
            {"drain_ms", timeouts.drain.count()}};
}

Json min_rate_json(const config::MinRate& rate) {
    const auto bytes = [](std::size_t count) { return count > 0 ? Json(count) : Json("off"); };
    return {
        {"head_bytes_per_second", bytes(rate.head)},
        {"body_bytes_per_second", bytes(rate.body)},
        {"after_ms", rate.after.count()}};
}

Json access_log_json(const config::AccessLog& log) {
    using Target = config::AccessLog::Target;
    Json fields = Json::array();
    for (const std::string& field : log.fields)
        fields.push_back("header:" + field);
    const std::string path = log.target == Target::file              ? log.path
                             : log.target == Target::standard_output ? "stdout"
                                                                     : "off";
    return {{"path", path}, {"fields", fields}};
}

std::string_view scope_text(config::Cooldown::Scope scope) {
    switch (scope) {
    case config::Cooldown::Scope::host:
        return "host";
    case config::Cooldown::Scope::route:
        return "route";
    case config::Cooldown::Scope::key:
        return "key";
    }
    return {};
}

Json cooldown_json(const std::optional<config::Cooldown>& cooldown) {
    if (!cooldown || !cooldown->on)
        return "off";
    Json json{
        {"scope", scope_text(cooldown->scope)},
        {"max_cooldown_ms", cooldown->most.count()},
        {"ramp_up_ms", cooldown->ramp.count()},
        {"learn", cooldown->learn},
        {"when_paused", cooldown->wait ? "wait" : "answer"}};
    for (const config::KeySource& source : cooldown->key)
        json["key"].push_back(config::to_text(source));
    if (cooldown->otherwise)
        json["default_ms"] = cooldown->otherwise->count();
    if (cooldown->wait) {
        json["max_wait_ms"] = cooldown->wait->max_wait.count();
        json["max_waiting"] = cooldown->wait->max_waiting;
    }
    return json;
}

std::string_view proxy_protocol_text(config::Upstream::ProxyProtocol protocol) {
    using Protocol = config::Upstream::ProxyProtocol;
    return protocol == Protocol::v2 ? "v2" : protocol == Protocol::v1 ? "v1" : "off";
}

Json retry_json(const std::optional<config::Retry>& retry) {
    if (!retry || !retry->on)
        return "off";
    Json on = Json::array();
    if (retry->connect)
        on.push_back("connect");
    if (retry->reset)
        on.push_back("reset");
    for (const std::uint16_t status : retry->statuses)
        on.push_back(status);
    return {
        {"on", on},
        {"attempts", retry->attempts},
        {"budget_percent", retry->budget},
        {"methods", retry->methods}};
}

Json upstreams_json(const config::Config& config) {
    Json upstreams = Json::object();
    for (const config::Upstream& upstream : config.upstreams) {
        Json endpoints = Json::array();
        for (const config::Endpoint& endpoint : upstream.endpoints)
            endpoints.push_back(endpoint_settings_json(endpoint));
        Json json{{"endpoints", endpoints}};
        if (!upstream.host.empty())
            json["host"] = upstream.host;
        json["tls"] = upstream_tls_json(upstream);
        json["resolve_interval_ms"] = upstream.resolve_interval.count();
        json["timeouts"] = timeouts_json(config.timeouts, upstream.timeouts);
        json["cooldown"] = cooldown_json(upstream.cooldown);
        json["retry"] = retry_json(upstream.retry);
        add_balance_json(upstream, json);
        add_shaping_json(upstream.shaping, json);
        json["proxy_protocol"] = proxy_protocol_text(upstream.proxy_protocol);
        upstreams[upstream.name] = std::move(json);
    }
    return upstreams;
}

Json limits_json(const config::Config& config) {
    Json limits = Json::object();
    for (const config::Limit& limit : config.limits)
        if (!limit.lock)
            add_refusal_json(limit, limits[limit.name] = limit_settings_json(limit));
    return limits;
}

Json locks_json(const config::Config& config) {
    Json locks = Json::object();
    for (const config::Limit& limit : config.limits) {
        if (!limit.lock)
            continue;
        Json& json = locks[std::string{lock_name(limit.name)}];
        json = {{"max", limit.quota}, {"max_waiting", limit.lock->max_waiting}};
        add_wait_json(limit, json);
        add_refusal_json(limit, json);
    }
    return locks;
}

Json max_body_json(const std::optional<std::uint64_t>& most) {
    return most ? Json(*most) : Json("off");
}

Json routes_json(const config::Config& config) {
    Json routes = Json::array();
    for (const config::Route& route : config.routes) {
        const config::Upstream& upstream = upstream_of(config, route);
        Json json{
            {"name", route.name},
            {"match", match_json(route.match)},
            {"limits", limit_names_json(config, route)},
            {"max_body_bytes", max_body_json(route.max_body)},
            {"headers", headers_json(route.headers)},
            {"timeouts", timeouts_json(config.timeouts, upstream.timeouts, route.timeouts)}};
        if (route.require_fence)
            json["require_fence"] = lock_name(config.limits[*route.require_fence].name);
        add_action_json(config, route, json);
        if (!route.answer) {
            json["upgrade"] = route.upgrade.empty() ? Json("off") : Json(route.upgrade);
            json["cooldown"] = cooldown_json(route.cooldown ? route.cooldown : upstream.cooldown);
            json["retry"] = retry_json(route.retry ? route.retry : upstream.retry);
        }
        routes.push_back(std::move(json));
    }
    return routes;
}

// Adds the bounds of requests, and how they are read.
void add_requests_json(const config::Config& config, Json& json) {
    json["max_head_bytes"] = config.max_head;
    json["max_target_bytes"] = config.max_target;
    json["max_fields"] = config.max_fields;
    json["max_body_bytes"] = max_body_json(config.max_body);
    json["merge_slashes"] = config.paths.merge_slashes;
    json["encoded_slashes"] = config.paths.refuse_encoded_slashes ? "refuse" : "keep";
    json["absolute_form"] = config.routes_absolute_form ? "route" : "refuse";
    json["forwarded"] = config.forwarded;
}

void add_trust_json(const config::TrustedProxies& trusted, Json& json) {
    Json peers = Json::array();
    for (const Cidr& network : trusted.networks)
        peers.push_back(IpText{network}.view());
    if (trusted.unix_peers)
        peers.push_back("unix");
    if (!peers.empty())
        json["client_ip_header"] = trusted.header;
    json["trusted_proxies"] = std::move(peers);
    json["trusted_fields"] = trusted.fields;
}

} // namespace

Json ms_json(std::chrono::nanoseconds duration) {
    constexpr auto ms = std::chrono::nanoseconds{std::chrono::milliseconds{1}};
    if (duration % ms == std::chrono::nanoseconds{0})
        return duration / ms;
    return static_cast<double>(duration.count()) / static_cast<double>(ms.count());
}

Json timeouts_json(
    const config::Timeouts& defaults,
    const config::TimeoutOverrides& upstream,
    const config::TimeoutOverrides& route) {
    const auto pick = [](const auto& first, const auto& second, auto otherwise) {
        return first.value_or(second.value_or(otherwise)).count();
    };
    return {
        {"body_idle_ms", pick(route.body_idle, upstream.body_idle, defaults.body_idle)},
        {"connect_ms", pick(route.connect, upstream.connect, defaults.connect)},
        {"response_ms", pick(route.response, upstream.response, defaults.response)},
        {"tunnel_idle_ms", pick(route.tunnel_idle, upstream.tunnel_idle, defaults.tunnel_idle)}};
}

Json match_json(const config::Match& match) {
    using Path = config::Match::Path;
    const char* const paths = match.kind == Path::exact   ? "path_exact"
                              : match.kind == Path::regex ? "path_regex"
                                                          : "path";
    Json json{{"host", match.host}, {paths, match.path}};
    if (!match.methods.empty())
        json["methods"] = match.methods;
    return json;
}

Json limit_names_json(const config::Config& config, const config::Route& route) {
    Json names = Json::array();
    for (const std::size_t index : route.limits)
        names.push_back(config.limits[index].name);
    return names;
}

Json config_json(const config::Config& config, const RunningConfig& running) {
    Json json{
        {"workers", running.workers},
        {"pin_workers", running.pin_workers},
        {"listeners", listeners_json(config)}};
    if (running.admin)
        json["admin"] = admin_json(*running.admin);
    if (config.permits)
        json["permits"] = permits_json(*config.permits);
    json["state"] = state_json(running.state);
    json["timeouts"] = default_timeouts_json(config.timeouts);
    json["max_connections"] = config.max_connections;
    if (config.max_connections_per_client > 0)
        json["max_connections_per_client"] = config.max_connections_per_client;
    else
        json["max_connections_per_client"] = "off";
    json["min_rate"] = min_rate_json(config.min_rate);
    add_requests_json(config, json);
    add_trust_json(config.trusted_proxies, json);
    json["ipv4_prefix"] = config.prefixes.ipv4;
    json["ipv6_prefix"] = config.prefixes.ipv6;
    json["access_log"] = access_log_json(config.access_log);
    json["log_level"] = config.log_level;
    json["headers"] = headers_json(config.headers);
    json["upstreams"] = upstreams_json(config);
    json["limits"] = limits_json(config);
    json["locks"] = locks_json(config);
    json["routes"] = routes_json(config);
    return json;
}

} // namespace stint::admin
