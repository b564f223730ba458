#include "runtime/compile_limit.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace stint::runtime {
namespace {

static_assert(
    static_cast<int>(routing::KeySource::Kind::permit_key) ==
    static_cast<int>(config::KeySource::Kind::permit_key));

routing::MissingKey missing_key_of(const config::Limit& limit) {
    switch (limit.missing_key) {
    case config::Limit::MissingKey::share:
        return routing::MissingKey::share;
    case config::Limit::MissingKey::exempt:
        return routing::MissingKey::exempt;
    case config::Limit::MissingKey::refuse:
        return routing::MissingKey::refuse;
    case config::Limit::MissingKey::partial:
        return routing::MissingKey::partial;
    }
    return routing::MissingKey::share;
}

// Returns the template of the key that the limit counts by.
routing::KeyTemplate counted_key_of(const config::Limit& limit) {
    const bool partial = limit.missing_key == config::Limit::MissingKey::partial;
    return key_of(
        limit.key, limit.prefixes,
        partial ? routing::MissingPart::empty : routing::MissingPart::loses_key);
}

routing::KeyList list_of(const config::KeyList& list) {
    routing::KeyList made;
    made.networks = list.networks;
    for (const std::string& key : list.keys)
        made.keys.add(key, {});
    return made;
}

// Returns nullptr for a limit without overrides, exempt and denied keys.
routing::KeyRulesPtr rules_of(const config::Limit& limit) {
    if (limit.overrides.empty() && limit.exempt.empty() && limit.deny.empty())
        return nullptr;
    auto overrides = std::make_shared<routing::OverrideSet>();
    for (const config::Override& each : limit.overrides)
        overrides->add(each.key, {each.quota, each.burst});
    auto rules = std::make_shared<routing::KeyRules>();
    rules->exempt = list_of(limit.exempt);
    rules->deny = list_of(limit.deny);
    rules->overrides = std::move(overrides);
    return rules;
}

std::optional<routing::WaitSettings>
wait_of(const config::Limit& limit, observe::MetricSlots& slots) {
    if (!limit.wait || !limit.enforce)
        return std::nullopt;
    return routing::WaitSettings{
        .max_wait = limit.wait->max_wait,
        .max_waiting = limit.wait->max_waiting,
        .fair_by = key_of(limit.wait->fair_by, limit.prefixes),
        .metric = slots.wait(limit.name)};
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

// Sets the part of a route's limit that decides how a request is counted: pacing, dry run,
// reservations and cost.
void set_terms(const config::Limit& from, routing::RouteLimit& limit) {
    limit.pace = from.pace;
    limit.enforce = from.enforce;
    limit.holds_tunnel = from.ws_holds_slot;
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
        .key = counted_key_of(limit).text(),
        .algorithm = algorithm_of(limit),
        .anchor = window && by_clock ? limits::Anchor::clock : limits::Anchor::first_request,
        .per = window ? limit.per : Duration{},
        .time_zone = limit.time_zone,
        .unit = limit.unit.value_or(CalendarUnit::day)};
    spec.quota = limit.quota;
    spec.max_keys = limit.max_keys;
    return spec;
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

} // namespace

routing::KeyTemplate key_of(
    const std::vector<config::KeySource>& key,
    const config::AddressPrefixes& prefixes,
    routing::MissingPart missing_part) {
    std::vector<routing::KeySource> sources;
    for (const config::KeySource& source : key)
        sources.push_back({static_cast<routing::KeySource::Kind>(source.kind), source.name});
    return routing::KeyTemplate{
        std::move(sources), {.ipv4 = prefixes.ipv4, .ipv6 = prefixes.ipv6}, missing_part};
}
ConfiguredLimit configured_limit(const config::Limit& limit, limits::Registry& registry) {
    return {
        registry.obtain(spec_of(limit)),
        {limit.quota, limit.burst},
        limit.route,
        counted_key_of(limit),
        rules_of(limit),
        limit.wait && limit.enforce,
        !limit.reserve_for.empty(),
        limit.enforce};
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
    if (limit.wait && !limit.enforce)
        made.dry_run_wait = limit.wait->max_wait;
    made.answer = answer_of(limit);
    set_terms(limit, made);
    return made;
}

} // namespace stint::runtime
