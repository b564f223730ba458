#include "runtime/compile.hpp"

#include "upstream/resolver.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace stint::runtime {
namespace {

routing::KeyTemplate
key_of(const std::vector<config::KeySource>& key, const config::AddressPrefixes& prefixes) {
    std::vector<routing::KeySource> sources;
    for (const config::KeySource& source : key)
        sources.push_back({static_cast<routing::KeySource::Kind>(source.kind), source.name});
    return routing::KeyTemplate{std::move(sources), {.ipv4 = prefixes.ipv4, .ipv6 = prefixes.ipv6}};
}
static_assert(
    static_cast<int>(routing::KeySource::Kind::jwt) ==
    static_cast<int>(config::KeySource::Kind::jwt));

routing::MissingKey missing_key_of(const config::Limit& limit) {
    switch (limit.missing_key) {
    case config::Limit::MissingKey::share:
        return routing::MissingKey::share;
    case config::Limit::MissingKey::exempt:
        return routing::MissingKey::exempt;
    case config::Limit::MissingKey::refuse:
        return routing::MissingKey::refuse;
    }
    return routing::MissingKey::share;
}

routing::KeyList list_of(const config::KeyList& list) {
    routing::KeyList made;
    made.networks = list.networks;
    for (const std::string& key : list.keys)
        made.keys.add(key, {});
    return made;
}

// nullptr for a limit without exceptions. What was set at run time goes before the file's.
routing::KeyRulesPtr rules_of(const config::Limit& limit, const LiveOverrides& live) {
    const std::vector<LiveOverride> set = live.of(limit.name);
    if (limit.overrides.empty() && limit.exempt.empty() && limit.deny.empty() && set.empty())
        return nullptr;
    auto overrides = std::make_shared<routing::OverrideSet>();
    for (const LiveOverride& each : set)
        overrides->add(each.pattern, each.numbers);
    for (const config::Override& each : limit.overrides)
        if (std::ranges::find(set, each.key, &LiveOverride::pattern) == set.end())
            overrides->add(each.key, {each.quota, each.burst});
    auto rules = std::make_shared<routing::KeyRules>();
    rules->exempt = list_of(limit.exempt);
    rules->deny = list_of(limit.deny);
    rules->overrides = std::move(overrides);
    return rules;
}

std::optional<routing::WaitSettings>
wait_of(const config::Limit& limit, observe::MetricSlots& slots) {
    if (!limit.wait)
        return std::nullopt;
    return routing::WaitSettings{
        .max_wait = limit.wait->max_wait,
        .max_waiting = limit.wait->max_waiting,
        .fair_by = key_of(limit.wait->fair_by, limit.prefixes),
        .metric = slots.wait(limit.name)};
}

routing::RouteLimit route_limit_of(
    const config::Limit& limit,
    const ConfiguredLimit& configured,
    std::size_t index,
    const std::string& route,
    observe::MetricSlots& slots) {
    routing::RouteLimit made;
    made.limit = configured.limit;
    made.index = static_cast<std::uint32_t>(index);
    made.quota = configured.numbers.quota;
    made.burst = configured.numbers.burst;
    made.key = configured.key;
    made.missing_key = missing_key_of(limit);
    made.rules = configured.rules;
    made.refusal_metric = slots.refusal(route, limit.name);
    made.wait = wait_of(limit, slots);
    return made;
}

limits::Algorithm algorithm_of(const config::Limit& limit) {
    if (limit.kind == config::Limit::Kind::cap)
        return limits::Algorithm::concurrency;
    switch (limit.algorithm) {
    case config::Limit::Algorithm::fixed_window:
        break;
    case config::Limit::Algorithm::sliding_window:
        return limits::Algorithm::sliding_window;
    case config::Limit::Algorithm::token_bucket:
        return limits::Algorithm::token_bucket;
    }
    return limits::Algorithm::fixed_window;
}

// How it counts: what of a limit belongs to the configuration, but for its numbers and its key.
void set_terms(const config::Limit& from, routing::RouteLimit& limit) {
    limit.pace = from.pace;
    limit.enforce = from.enforce;
    if (from.enforce && !from.reserve_for.empty())
        limit.reserve_for = key_of(from.reserve_for, from.prefixes);
    limit.pricing = {
        .cost = from.cost,
        .request_field = from.cost_request_field,
        .response_field = from.cost_response_field,
        .count_when = from.count_when,
        .refund = from.refund};
}

limits::LimitSpec spec_of(const config::Limit& limit) {
    const bool window = limit.kind == config::Limit::Kind::window;
    const bool by_clock = limit.unit || limit.anchor == config::Limit::Anchor::clock;
    limits::LimitSpec spec;
    spec.identity = {
        .name = limit.name,
        .key = key_of(limit.key, limit.prefixes).text(),
        .algorithm = algorithm_of(limit),
        .anchor = window && by_clock ? limits::Anchor::clock : limits::Anchor::first_request,
        .per = window ? limit.per : Duration{},
        .time_zone = limit.time_zone,
        .unit = limit.unit.value_or(CalendarUnit::day)};
    spec.quota = limit.quota;
    spec.max_keys = limit.max_keys;
    return spec;
}

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
        .response = pick(route.response, upstream.response, defaults.response)};
}

routing::RefusalAnswer answer_of(const config::Limit& limit) {
    routing::RefusalAnswer answer;
    answer.status = limit.status;
    if (limit.body) {
        answer.content_type = limit.body->content_type;
        answer.body = limit.body->text;
    }
    answer.jitter = limit.retry_after_jitter;
    return answer;
}

void tell_policies(
    const config::Config& config,
    const config::Headers& headers,
    routing::RouteLimit& limit,
    std::size_t index,
    routing::PolicyTelling& telling) {
    using Fields = config::Headers::Fields;
    const Fields fields = config.limits[index].headers.value_or(headers.fields);
    limit.told_in_draft = fields == Fields::draft || fields == Fields::both;
    limit.told_in_legacy = fields == Fields::legacy || fields == Fields::both;
    telling.any = telling.any || fields != Fields::off;
}

// Hosts are an upstream's, whichever of its routes has asked them; a route's pause is its own, and
// keys belong to where they are written.
routing::RouteCooldown cooldown_of(
    const config::Config& config, const config::Route& route, limits::CooldownRegistry& registry) {
    const config::Upstream& upstream = config.upstreams[route.upstream];
    const std::optional<config::Cooldown>& from =
        route.cooldown ? route.cooldown : upstream.cooldown;
    if (!from || !from->on)
        return {};
    using Scope = config::Cooldown::Scope;
    const bool by_host = from->scope == Scope::host;
    routing::RouteCooldown cooldown;
    limits::CooldownIdentity identity{"route:" + route.name, "route"};
    if (by_host || (from->scope == Scope::key && !route.cooldown))
        identity.owner = "upstream:" + upstream.name;
    if (by_host)
        identity.scope = "host";
    if (from->scope == Scope::key) {
        cooldown.key = key_of(from->key, config.prefixes);
        identity.scope = "key:" + cooldown.key.text();
    }
    cooldown.set = registry.obtain(identity);
    cooldown.rules.most = from->most;
    cooldown.rules.otherwise = from->otherwise;
    cooldown.rules.ramp = from->ramp;
    cooldown.rules.learn = from->learn;
    cooldown.by_host = by_host && upstream.host.empty();
    cooldown.otherwise = by_host ? upstream.host : route.name;
    return cooldown;
}

routing::Route route_of(
    const config::Config& config,
    const config::Route& from,
    const std::vector<ConfiguredLimit>& limits,
    observe::MetricSlots& slots) {
    routing::Route route;
    route.name = from.name;
    route.match = {
        host_of(from.match),
        {from.match.path_exact ? routing::PathPattern::Kind::exact
                               : routing::PathPattern::Kind::prefix,
         from.match.path},
        from.match.methods};
    route.upstream = static_cast<std::uint32_t>(from.upstream);
    route.timeouts =
        timeouts_of(config.timeouts, config.upstreams[from.upstream].timeouts, from.timeouts);
    route.metric = slots.route(from.name);
    route.telling.legacy_unprefixed = from.headers.prefix == config::Headers::Prefix::ratelimit;
    route.telling.legacy_epoch = from.headers.reset == config::Headers::Reset::epoch;
    for (const std::size_t index : from.limits) {
        routing::RouteLimit limit =
            route_limit_of(config.limits[index], limits[index], index, from.name, slots);
        route.waits = route.waits || limit.wait;
        limit.answer = answer_of(config.limits[index]);
        tell_policies(config, from.headers, limit, index, route.telling);
        set_terms(config.limits[index], limit);
        route.reserves = route.reserves || !limit.reserve_for.empty();
        route.settles = route.settles || limit.pricing.returnable();
        route.limits.push_back(std::move(limit));
    }
    std::sort(route.limits.begin(), route.limits.end(), [](const auto& left, const auto& right) {
        return left.limit->ordinal() < right.limit->ordinal();
    });
    return route;
}

} // namespace

Compiled compile(
    const config::Config& config,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    std::uint64_t generation,
    const LiveOverrides& overrides) {
    Compiled compiled;
    for (const config::Limit& limit : config.limits)
        compiled.limits.push_back(
            {registry.obtain(spec_of(limit)),
             {limit.quota, limit.burst},
             limit.route,
             key_of(limit.key, limit.prefixes),
             rules_of(limit, overrides),
             limit.wait.has_value(),
             !limit.reserve_for.empty()});

    auto snapshot = std::make_shared<routing::Snapshot>();
    for (const ConfiguredLimit& each : compiled.limits)
        snapshot->limits.push_back(each.limit);
    for (const config::Upstream& upstream : config.upstreams) {
        routing::UpstreamSpec spec{upstream.name, {}, upstream.host, slots.upstream(upstream.name)};
        for (const config::Endpoint& endpoint : upstream.endpoints) {
            spec.endpoints.push_back(
                {endpoint.host, endpoint.port, endpoint.is_unix, endpoint.text});
            if (!endpoint.is_unix && upstream::Resolver::is_name(endpoint.host))
                compiled.host_names.insert(endpoint.host);
        }
        snapshot->upstreams.push_back(std::move(spec));
    }
    std::vector<routing::Route> routes;
    for (const config::Route& route : config.routes) {
        routes.push_back(route_of(config, route, compiled.limits, slots));
        routing::RouteCooldown& cooldown = routes.back().cooldown;
        cooldown = cooldown_of(config, route, registry.cooldowns());
        const auto& known = compiled.cooldowns;
        if (cooldown.set && std::find(known.begin(), known.end(), cooldown.set) == known.end())
            compiled.cooldowns.push_back(cooldown.set);
    }
    snapshot->routes = routing::RouteTable{std::move(routes)};
    snapshot->timeouts = {
        .head = config.timeouts.head,
        .idle = config.timeouts.idle,
        .body_idle = config.timeouts.body_idle,
        .drain = config.timeouts.drain};
    snapshot->trusted = {
        .networks = config.trusted_proxies.networks,
        .unix_peers = config.trusted_proxies.unix_peers,
        .header = config.trusted_proxies.header};
    snapshot->max_connections = config.max_connections;
    snapshot->max_head = config.max_head;
    snapshot->log_fields = config.access_log.fields;
    snapshot->generation = generation;
    compiled.snapshot = std::move(snapshot);
    return compiled;
}

} // namespace stint::runtime
