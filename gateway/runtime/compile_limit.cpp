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

// Returns the per-key rules of a limit; nullptr if no key is overridden, exempt or denied.
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

limits::LimitSpec spec_of(const config::Limit& limit, const stores::StorePtr& store) {
    limits::LimitSpec spec;
    spec.identity = identity_of(limit, store != nullptr ? store->settings().name : "");
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

limits::OnStoreFailure policy_of(const config::SharedLimit& shared) {
    switch (shared.on_store_failure) {
    case config::SharedLimit::OnStoreFailure::share:
        break;
    case config::SharedLimit::OnStoreFailure::open:
        return limits::OnStoreFailure::open;
    case config::SharedLimit::OnStoreFailure::closed:
        return limits::OnStoreFailure::closed;
    }
    return limits::OnStoreFailure::share;
}

routing::LimitTermsPtr terms_of(
    const config::Limit& from,
    const ConfiguredLimit& configured,
    observe::MetricSlots& slots,
    const stores::StorePtr& store) {
    routing::LimitTerms made;
    made.limit = configured.limit;
    made.quota = configured.numbers.quota;
    made.burst = configured.numbers.burst;
    made.key = configured.key;
    made.missing_key = missing_key_of(from);
    made.rules = configured.rules;
    made.answer = answer_of(from);
    made.wait = wait_of(from, slots);
    if (from.wait && !from.enforce)
        made.dry_run_wait = from.wait->max_wait;
    if (from.enforce && !from.reserve_for.empty())
        made.reserve_for = key_of(from.reserve_for, from.prefixes);
    made.pace = from.pace;
    made.enforce = from.enforce;
    made.holds_tunnel = from.ws_holds_slot;
    made.pricing = {
        .cost = from.cost,
        .request_field = from.cost_request_field,
        .response_field = from.cost_response_field,
        .count_when = from.count_when,
        .refund = from.refund};
    if (store != nullptr)
        made.shared =
            limits::SharedTerms{store, policy_of(*from.shared), store->settings().timeout};
    return std::make_shared<const routing::LimitTerms>(std::move(made));
}

// Returns the store of a limit that gateways share; nullptr if this gateway counts alone.
stores::StorePtr store_of(const config::Limit& limit, const SharedStores& stores) {
    return limit.shared && limit.shared->store < stores.size() ? stores[limit.shared->store]
                                                               : nullptr;
}

CompiledLimit compiled_of(
    const config::Limit& limit,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    const SharedStores& stores,
    Duration longest_lease) {
    const stores::StorePtr store = store_of(limit, stores);
    ConfiguredLimit configured{
        registry.obtain(spec_of(limit, store)),
        {limit.quota, limit.burst},
        limit.route,
        counted_key_of(limit),
        rules_of(limit),
        limit.wait && limit.enforce,
        !limit.reserve_for.empty(),
        limit.enforce};
    // From the first call on the store's client knows that the slots are a lock's.
    if (store != nullptr && limit.lock)
        configured.limit->share_policy().leases().begin(limit.quota, longest_lease);
    if (store != nullptr)
        store->serve(configured.limit, policy_of(*limit.shared));
    routing::LimitTermsPtr terms = terms_of(limit, configured, slots, store);
    return {std::move(configured), std::move(terms)};
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

limits::LimitIdentity identity_of(const config::Limit& limit, std::string_view store) {
    const bool window = limit.kind == config::Limit::Kind::window;
    const bool by_clock = limit.calendar || limit.anchor == config::Limit::Anchor::clock;
    return {
        .name = limit.name,
        .key = counted_key_of(limit).text(),
        .algorithm = algorithm_of(limit),
        .anchor = window && by_clock ? limits::Anchor::clock : limits::Anchor::first_request,
        .per = window ? limit.per : Duration{},
        .time_zone = limit.calendar ? limit.calendar->time_zone : std::string{},
        .unit = limit.calendar ? limit.calendar->unit : CalendarUnit::day,
        .store = std::string{store}};
}

limits::LimitIdentity identity_of(const config::Limit& limit, const config::Config& config) {
    return identity_of(limit, limit.shared ? config.stores[limit.shared->store].name : "");
}

CompiledLimit compile_limit(
    const config::Limit& as_read,
    const LimitChanges& changes,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    const SharedStores& stores,
    Duration longest_lease) {
    if (changes.concern(as_read.name))
        return compiled_of(changes.applied_to(as_read), registry, slots, stores, longest_lease);
    return compiled_of(as_read, registry, slots, stores, longest_lease);
}

Duration longest_lease_of(const config::Config& config) noexcept {
    return config.permits ? config.permits->max_ttl : Duration{};
}

routing::RouteLimit route_limit_of(
    const config::Limit& limit,
    std::size_t index,
    const std::string& route,
    observe::MetricSlots& slots) {
    return {
        .index = static_cast<std::uint32_t>(index),
        .refusal_metric = slots.refusal(route, limit.name)};
}

} // namespace stint::runtime
