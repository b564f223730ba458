#include "runtime/compile.hpp"

#include "config/values/addresses.hpp"
#include "net/clock.hpp"
#include "runtime/compile_balance.hpp"
#include "runtime/compile_limit.hpp"
#include "runtime/compile_shape.hpp"
#include "runtime/cooldown_identity.hpp"
#include "runtime/protected_fields.hpp"
#include "runtime/token_file.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace stint::runtime {
namespace {

routing::HostPattern host_of(const config::Match& match) {
    if (match.host.empty() || match.host == "*")
        return {};
    if (match.host.starts_with("*."))
        return {routing::HostPattern::Kind::suffix, match.host.substr(1)};
    return {routing::HostPattern::Kind::exact, match.host};
}

routing::RouteTimeouts timeouts_of(
    const config::Timeouts& defaults,
    const config::TimeoutOverrides& upstream,
    const config::TimeoutOverrides& route) {
    const auto pick = [](auto first, auto second, auto otherwise) {
        return first ? *first : second ? *second : otherwise;
    };
    return {
        .body_idle = pick(route.body_idle, upstream.body_idle, defaults.body_idle),
        .connect = pick(route.connect, upstream.connect, defaults.connect),
        .response = pick(route.response, upstream.response, defaults.response),
        .tunnel_idle = pick(route.tunnel_idle, upstream.tunnel_idle, defaults.tunnel_idle)};
}

void tell_policies(
    const config::Config& config,
    const config::Headers& headers,
    routing::RouteLimit& limit,
    std::size_t index,
    routing::RateLimitHeaderSettings& telling) {
    using Fields = config::Headers::Fields;
    const Fields fields = config.limits[index].headers.value_or(headers.fields);
    limit.told_in_draft = fields == Fields::draft || fields == Fields::both;
    limit.told_in_legacy = fields == Fields::legacy || fields == Fields::both;
    telling.any = telling.any || fields != Fields::off;
}

// Returns the route's cooldown rules and the set of pauses that it takes part in (pauses_of()); an
// empty result if it has no cooldown.
routing::RouteCooldown cooldown_of(
    const config::Config& config,
    const config::Route& route,
    limits::CooldownRegistry& registry,
    const SharedStores& stores) {
    const std::optional<RoutePauses> pauses = pauses_of(config, route);
    if (!pauses)
        return {};
    const config::Cooldown* const from = pauses->settings;
    const std::string& host = route.host ? *route.host : config.upstreams[route.upstream].host;
    const bool by_host = from->scope == config::Cooldown::Scope::host;
    routing::RouteCooldown cooldown;
    if (from->scope == config::Cooldown::Scope::key)
        cooldown.key = key_of(from->key, config.prefixes);
    cooldown.set = registry.obtain(pauses->identity);
    const bool shared = from->shared && *from->shared < stores.size();
    cooldown.set->share_by(
        shared ? limits::PauseExchangePtr{stores[*from->shared]} : nullptr,
        net::read_steady_clock());
    cooldown.rules.most = from->most;
    cooldown.rules.otherwise = from->otherwise;
    cooldown.rules.ramp = from->ramp;
    cooldown.rules.learn = from->learn;
    cooldown.rules.waits = from->wait.has_value();
    if (from->wait) {
        cooldown.rules.max_wait = from->wait->max_wait;
        cooldown.rules.max_waiting = from->wait->max_waiting;
    }
    cooldown.by_host = by_host && host.empty();
    cooldown.otherwise = by_host ? host : route.name;
    return cooldown;
}

routing::Route route_of(
    const config::Config& config,
    const config::Route& from,
    const std::vector<routing::LimitTermsPtr>& terms,
    observe::MetricSlots& slots) {
    routing::Route route;
    route.name = from.name;
    route.match = {host_of(from.match), path_of(from.match), from.match.methods};
    route.upstream = static_cast<std::uint32_t>(from.upstream);
    route.timeouts = timeouts_of(
        config.timeouts,
        from.answer ? config::TimeoutOverrides{} : config.upstreams[from.upstream].timeouts,
        from.timeouts);
    route.shape = shape_of(config, from);
    route.answer = answer_of(from);
    route.sends_proxy_protocol = !from.answer && config.upstreams[from.upstream].proxy_protocol !=
                                                     config::Upstream::ProxyProtocol::off;
    route.upgrades = from.upgrade;
    if (!from.answer)
        route.retry = retry_of(config.upstreams[from.upstream], from);
    route.metric = slots.route(from.name);
    if (from.require_fence) {
        route.fence = terms[*from.require_fence]->limit;
        route.fence_metric = slots.refusal(from.name, config.limits[*from.require_fence].name);
    }
    route.max_body = from.max_body.value_or(route.max_body);
    route.telling.legacy_unprefixed = from.headers.prefix == config::Headers::Prefix::ratelimit;
    route.telling.legacy_epoch = from.headers.reset == config::Headers::Reset::epoch;
    for (const std::size_t index : from.limits) {
        routing::RouteLimit limit = route_limit_of(config.limits[index], index, from.name, slots);
        if (const auto own = from.statuses.find(index); own != from.statuses.end())
            limit.status = static_cast<std::uint16_t>(own->second);
        tell_policies(config, from.headers, limit, index, route.telling);
        route.may_wait = route.may_wait || config.limits[index].wait;
        route.may_reserve = route.may_reserve || !config.limits[index].reserve_for.empty();
        route.settles = route.settles || terms[index]->pricing.refundable();
        route.limits.push_back(limit);
    }
    std::ranges::sort(route.limits, {}, [&](const routing::RouteLimit& each) {
        return terms[each.index]->limit->ordinal();
    });
    return route;
}

Reach reach_of(const config::Address& address) {
    if (address.kind == config::Address::Kind::unix_socket)
        return Reach::unix_socket;
    return config::is_local(address) ? Reach::loopback : Reach::network;
}

// Compiles the settings of the permits listener. All its callers together count as one more route
// in the metrics.
routing::PermitTerms permit_terms_of(const config::Config& config, observe::MetricSlots& slots) {
    const std::string route{observe::permits_route};
    routing::PermitTerms terms;
    for (std::size_t i = 0; i < config.limits.size(); ++i) {
        terms.limits.push_back(route_limit_of(config.limits[i], i, route, slots));
        terms.by_name.emplace(config.limits[i].name, static_cast<std::uint32_t>(i));
    }
    terms.dynamic_limits = config.permits->dynamic_limits;
    terms.dynamic_metric = slots.refusal(route, std::string{observe::dynamic_limits});
    terms.max_ttl = config.permits->max_ttl;
    terms.needs_token = !config.permits->token_file.empty();
    terms.reach = reach_of(config.permits->address);
    terms.host = config.permits->address.host;
    terms.hosts = config.permits->hosts;
    if (!terms.needs_token)
        return terms;
    if (const auto token = read_token(config.permits->token_file))
        terms.token = *token;
    else
        spdlog::error("nobody gets permits: {}", token.error());
    return terms;
}

// Adds a host name to resolve, at the shortest interval of the upstreams that use it.
void look_up(
    upstream::Resolver::Names& names, const std::string& host, std::chrono::milliseconds interval) {
    const auto [known, added] = names.try_emplace(host, interval);
    if (!added)
        known->second = std::min<Duration>(known->second, interval);
}

std::string authority_of(const config::Endpoint& endpoint) {
    if (endpoint.is_unix)
        return "localhost";
    std::string text;
    if (endpoint.host.find(':') == std::string::npos)
        text = endpoint.host;
    else
        text.append("[").append(endpoint.host).append("]");
    if (endpoint.port != (endpoint.tls ? 443 : 80))
        text.append(":").append(std::to_string(endpoint.port));
    return text;
}

routing::EndpointSpec endpoint_of(
    const config::Upstream& upstream, const config::Endpoint& endpoint, const TlsObjects& tls) {
    routing::EndpointSpec spec{endpoint.host, endpoint.port, endpoint.is_unix, endpoint.text};
    spec.authority = authority_of(endpoint);
    if (!endpoint.tls)
        return spec;
    spec.tls = tls.upstream(upstream.name);
    spec.server_name = upstream.tls.server_name.empty() ? endpoint.host : upstream.tls.server_name;
    return spec;
}

} // namespace

std::optional<std::size_t> Compiled::limit_named(std::string_view name) const noexcept {
    const auto found = limits_by_name.find(name);
    return found == limits_by_name.end() ? std::nullopt : std::optional{found->second};
}

Compiled compile(
    const config::Config& config,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    std::uint64_t generation,
    const LimitChanges& changes,
    const TlsObjects& tls,
    upstream::EndpointRegistry* endpoints,
    const SharedStores& stores) {
    Compiled compiled;
    auto snapshot = std::make_shared<routing::Snapshot>();
    for (const config::Limit& limit : config.limits) {
        CompiledLimit made =
            compile_limit(limit, changes, registry, slots, stores, longest_lease_of(config));
        compiled.limits_by_name.emplace(made.terms->limit->identity().name, compiled.limits.size());
        compiled.limits.push_back(std::move(made.configured));
        snapshot->limits.push_back(std::move(made.terms));
    }
    std::vector<routing::UpstreamSpec> upstreams;
    for (const config::Upstream& upstream : config.upstreams) {
        routing::UpstreamSpec spec{upstream.name, {}, upstream.host, slots.upstream(upstream.name)};
        spec.balance = balance_of(upstream, config.prefixes, endpoints);
        spec.proxy_protocol = proxy_protocol_of(upstream);
        for (const config::Endpoint& endpoint : upstream.endpoints) {
            spec.endpoints.push_back(endpoint_of(upstream, endpoint, tls));
            routing::EndpointSpec& made = spec.endpoints.back();
            made.weight = endpoint.weight;
            made.max_requests = endpoint.max_requests;
            made.state = spec.balance.group->endpoint(endpoint.text);
            if (!endpoint.is_unix && upstream::Resolver::is_name(endpoint.host))
                look_up(compiled.host_names, endpoint.host, upstream.resolve_interval);
        }
        upstreams.push_back(std::move(spec));
    }
    snapshot->upstreams =
        std::make_shared<const std::vector<routing::UpstreamSpec>>(std::move(upstreams));
    std::vector<routing::Route> routes;
    routes.reserve(config.routes.size());
    std::set<const limits::CooldownSet*> known_cooldowns;
    for (const config::Route& route : config.routes) {
        routes.push_back(route_of(config, route, snapshot->limits, slots));
        routing::RouteCooldown& cooldown = routes.back().cooldown;
        cooldown = cooldown_of(config, route, registry.cooldowns(), stores);
        if (cooldown.set && known_cooldowns.insert(cooldown.set.get()).second)
            compiled.cooldowns.push_back(cooldown.set);
    }
    snapshot->routes = routing::RouteTable{std::move(routes)};
    snapshot->timeouts = {
        .head = config.timeouts.head,
        .idle = config.timeouts.idle,
        .body_idle = config.timeouts.body_idle,
        .drain = config.timeouts.drain,
        .drain_delay = config.timeouts.drain_delay};
    snapshot->min_head_rate = {config.min_rate.head, config.min_rate.after};
    snapshot->min_body_rate = {config.min_rate.body, config.min_rate.after};
    snapshot->trusted = {
        .networks = config.trusted_proxies.networks,
        .unix_peers = config.trusted_proxies.unix_peers,
        .header = config.trusted_proxies.header};
    snapshot->trusted_fields = FieldNames{config.trusted_proxies.fields};
    snapshot->load = config.load;
    snapshot->prefixes = {.ipv4 = config.prefixes.ipv4, .ipv6 = config.prefixes.ipv6};
    snapshot->heads = config.heads;
    snapshot->paths = config.paths;
    snapshot->hop = config.hop;
    snapshot->protected_fields = protected_fields(config);
    snapshot->log = config.access_log.rules;
    if (config.permits)
        snapshot->permits =
            std::make_shared<const routing::PermitTerms>(permit_terms_of(config, slots));
    snapshot->generation = generation;
    compiled.snapshot = std::move(snapshot);
    return compiled;
}

} // namespace stint::runtime
