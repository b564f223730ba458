#include "admin/service.hpp"

#include "admin/change_body.hpp"
#include "admin/endpoints.hpp"
#include "admin/explain.hpp"
#include "admin/forecast.hpp"
#include "admin/limit_changes.hpp"
#include "admin/locks.hpp"
#include "admin/named_limit.hpp"
#include "admin/overlay.hpp"
#include "admin/overrides.hpp"
#include "admin/reload.hpp"
#include "admin/router.hpp"
#include "admin/status.hpp"
#include "admin/stores.hpp"
#include "admin/top.hpp"
#include "admin/version.hpp"
#include "http/query.hpp"
#include "net/alarm.hpp"
#include "net/event.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace stint::admin {
namespace {

// The response to a change waits at most this long until the state file has the change.
constexpr auto longest_save = std::chrono::seconds{1};

net::Task<observe::WorkerCounters> collected(runtime::Gateway& gateway) {
    net::Event arrived;
    observe::WorkerCounters sum;
    // The callback is posted to this thread, so it never runs before wait().
    gateway.pool().collect([&](observe::WorkerCounters counters) {
        sum = std::move(counters);
        arrived.signal();
    });
    co_await arrived.wait();
    co_return sum;
}

// Waits until all workers have adopted the changes that were published before.
net::Task<> adopted(runtime::Gateway& gateway) {
    net::Event done;
    gateway.pool().await_posted([&] { done.signal(); });
    co_await done.wait();
}

// Waits until the state file has all changes so far, at most for longest_save. Returns "" if it has
// them, else the reason why not.
net::Task<std::string> saved(runtime::Gateway& gateway) {
    const auto alarm = std::make_shared<net::Alarm>(gateway.control().get_executor());
    gateway.await_saved([alarm] { alarm->ring(); });
    co_await alarm->sleep_until(gateway.now().steady + longest_save);
    const runtime::ChangeWriter::Unwritten unsaved = gateway.unsaved();
    if (!unsaved.any)
        co_return std::string{};
    co_return unsaved.why.empty() ? std::string{"it is not written yet"} : unsaved.why;
}

// Adds to the JSON of a change, or of all changes, that the state file does not have it, and why.
void add_not_kept(Json& json, const std::string& why) {
    json["kept"] = false;
    json["why_not_kept"] = "the state file: " + why;
}

Response not_kept(const Response& changed, const std::string& why) {
    Json json = Json::parse(changed.body);
    add_not_kept(json, why);
    return json_response(json);
}

Response readiness(const runtime::Gateway& gateway) {
    if (gateway.serving() != runtime::Gateway::Serving::none) {
        Json ready{{"status", "ready"}};
        if (const auto& stores = gateway.store().in_force()->stores; !stores.empty())
            ready["stores"] = store_words(stores);
        return json_response(ready);
    }
    return problem(503, "The gateway is stopping: it finishes the requests in flight.");
}

Json shown_limit(
    const runtime::Gateway& gateway,
    std::size_t index,
    const std::optional<ChosenKey>& key,
    const Now& now) {
    const runtime::LimitChanges& changes = gateway.changes().overlay().limits();
    const config::Limit settings = changes.applied_to(gateway.config().limits[index]);
    const limits::Limit& limit = *gateway.compiled().limits[index].limit;
    Json json = limit_json(settings, limit, key, now);
    if (limit.keyed())
        add_overrides(json, settings, changes, now);
    return json;
}

Response all_limits(const runtime::Gateway& gateway) {
    const Now now = gateway.now();
    const auto& settings = gateway.config().limits;
    Json limits = Json::array();
    for (std::size_t i = 0; i < settings.size(); ++i)
        limits.push_back(shown_limit(gateway, i, {}, now));
    return json_response({{"limits", limits}});
}

Response
one_limit(const runtime::Gateway& gateway, const std::string& name, const std::string& query) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    std::optional<ChosenKey> key;
    if (const auto asked = http::parameter(query, "key")) {
        const auto text = http::percent_decoded(*asked);
        if (!text)
            return problem(400, "The query has a malformed percent-escape.");
        const auto canonical = canonical_key(*limit, *text);
        if (!canonical)
            return canonical.error();
        const runtime::ConfiguredLimit& of = limit->limit;
        const bool missing = canonical->empty();
        key = ChosenKey{
            *canonical, of.key.hash_of(*canonical, gateway.hasher()).value_or(Hash128{}),
            of.numbers_for(missing ? std::nullopt : std::optional<std::string_view>{*canonical})};
    }
    return json_response(shown_limit(gateway, limit->index, key, gateway.now()));
}

Response metrics(Service& service, const observe::WorkerCounters& sum) {
    const runtime::Gateway& gateway = service.gateway;
    const std::size_t most = service.running.admin ? service.running.admin->max_metric_names : 0;
    const observe::PageParts page =
        service.series.bounded(sum, gateway.store().slots(), gateway.collect_metrics(), most);
    return {
        .content_type = "text/plain; version=0.0.4; charset=utf-8",
        .body = observe::exposition(page.sum, page.slots, page.figures)};
}

Response with_counters(Service& service, Endpoint endpoint, const observe::WorkerCounters& sum) {
    const runtime::Gateway& gateway = service.gateway;
    if (endpoint == Endpoint::metrics)
        return metrics(service, sum);
    if (endpoint == Endpoint::routes)
        return json_response(
            {{"routes", routes_status_json(gateway.config(), sum, gateway.store().slots())}});
    Json upstreams =
        upstreams_status_json(gateway.config(), gateway.addresses(), sum, gateway.store().slots());
    add_endpoint_states(upstreams, *gateway.compiled().snapshot, sum, gateway.now().steady);
    return json_response({{"upstreams", upstreams}});
}

Response change_limit(Service& service, const Target& target, const Request& request) {
    runtime::Gateway& gateway = service.gateway;
    if (auto refusal = refuse_change(request, service.policy))
        return std::move(*refusal);
    if (auto refusal = refuse_late_change(gateway))
        return std::move(*refusal);
    if (request.method == "DELETE" && !request.body.empty())
        return problem(400, "A DELETE has no body: its parameters are in the query.");
    switch (target.endpoint) {
    case Endpoint::block:
        return block(gateway, target.name, request.body);
    case Endpoint::unblock:
        return unblock(gateway, target.name, request.body);
    case Endpoint::enforce:
        return request.method == "POST" ? switch_enforce(gateway, target.name, request.body)
                                        : end_switch(gateway, target.name, request.query);
    case Endpoint::counters:
        return clear_counters(gateway, target.name, request.query);
    default:
        return request.method == "PUT"
                   ? put_override(gateway, target.name, target.key, request.body)
                   : delete_override(gateway, target.name, target.key, request.query);
    }
}

bool changes_limit(Endpoint endpoint) {
    return endpoint == Endpoint::override_of_key || endpoint == Endpoint::block ||
           endpoint == Endpoint::unblock || endpoint == Endpoint::enforce ||
           endpoint == Endpoint::counters;
}

Response
drain_or_enable(Service& service, const Target& target, const Request& request, bool drained) {
    if (auto refusal = refuse_change(request, service.policy))
        return std::move(*refusal);
    const auto by = attribution_in(request.query);
    return by ? set_drained(service.gateway, target.name, target.key, drained, *by) : by.error();
}

Response end_one_lease(Service& service, const Target& target, const Request& request) {
    if (auto refusal = refuse_change(request, service.policy))
        return std::move(*refusal);
    const auto by = attribution_in(request.query);
    return by ? end_lease(service.gateway, target.name, target.key, *by) : by.error();
}

Response changes(const runtime::Gateway& gateway, const char* member) {
    Json json{{member, overlay_json(gateway.changes().overlay(), gateway.config(), gateway.now())}};
    if (const auto unsaved = gateway.unsaved(); unsaved.any && !unsaved.why.empty())
        add_not_kept(json, unsaved.why);
    return json_response(json);
}

Response configuration(const Service& service) {
    return json_response(config_json(service.gateway.config(), service.running));
}

// Errors quote the file only to those who could have them from a reload of their own.
Response last_reload(const Service& service, const Request& request) {
    const runtime::Gateway& gateway = service.gateway;
    return json_response(last_reload_json(
        gateway.last_reload(), gateway.compiled().snapshot->generation, configuration(service).body,
        !refuse_change(request, service.policy)));
}

bool needs_counters(Endpoint endpoint) {
    return endpoint == Endpoint::metrics || endpoint == Endpoint::routes ||
           endpoint == Endpoint::upstreams;
}

Response at_once(Service& service, const Target& target, const Request& request) {
    runtime::Gateway& gateway = service.gateway;
    switch (target.endpoint) {
    case Endpoint::healthz:
        return json_response({{"status", "ok"}});
    case Endpoint::readyz:
        return readiness(gateway);
    case Endpoint::config:
        return configuration(service);
    case Endpoint::limits:
        return all_limits(gateway);
    case Endpoint::limit:
        return one_limit(gateway, target.name, request.query);
    case Endpoint::locks:
        return all_locks(gateway, request.query);
    case Endpoint::lock:
        return one_lock(gateway, target.name);
    case Endpoint::lease:
        return end_one_lease(service, target, request);
    case Endpoint::overlay:
        return changes(gateway, "overlay");
    case Endpoint::changes:
        return changes(gateway, "changes");
    case Endpoint::cooldowns:
        return json_response(
            {{"cooldowns", cooldowns_json(gateway.compiled().cooldowns, gateway.now().steady)}});
    case Endpoint::stores:
        return json_response(
            {{"stores", stores_json(gateway.store().in_force()->stores, gateway.now().steady)}});
    case Endpoint::trust_store: {
        auto refusal = refuse_change(request, service.policy);
        return refusal ? std::move(*refusal) : trust_store(gateway, target.name);
    }
    case Endpoint::version:
        return json_response(version_json(gateway));
    case Endpoint::last_reload:
        return last_reload(service, request);
    case Endpoint::drain:
    case Endpoint::enable:
        return drain_or_enable(service, target, request, target.endpoint == Endpoint::drain);
    case Endpoint::metrics:
    case Endpoint::routes:
    case Endpoint::upstreams:
    case Endpoint::top:
    case Endpoint::forecast:
    case Endpoint::reload:
    case Endpoint::override_of_key:
    case Endpoint::block:
    case Endpoint::unblock:
    case Endpoint::enforce:
    case Endpoint::counters:
    case Endpoint::explain:
        break; // handled by answer(), which waits for the workers
    }
    return problem(500, "This endpoint has no handler.");
}

} // namespace

net::Task<Response> answer(Service& service, Request request) {
    if (!host_allowed(request.authority, request.minor_version, service.policy))
        co_return problem(
            421, "This listener does not answer to that host: use its address or localhost, or "
                 "name the host in admin.hosts.");
    if (auto refusal = refuse_read(request, service.policy))
        co_return std::move(*refusal);
    auto target = find_target(request.method, request.path);
    if (!target)
        co_return std::move(target).error();
    if (target->endpoint == Endpoint::top) {
        Response top = co_await top_of_limit(service.gateway, target->name, request.query);
        co_return top;
    }
    if (target->endpoint == Endpoint::forecast) {
        Response told = co_await forecast_of_limit(service.gateway, target->name, request.query);
        co_return told;
    }
    if (target->endpoint == Endpoint::reload) {
        if (auto refusal = refuse_change(request, service.policy))
            co_return std::move(*refusal);
        Response told = co_await reload(service.gateway, service.running, request.query);
        co_return told;
    }
    if (target->endpoint == Endpoint::explain) {
        Response explanation = co_await explain(service.gateway, std::move(request.body));
        co_return explanation;
    }
    if (changes_limit(target->endpoint)) {
        Response changed = change_limit(service, *target, request);
        if (changed.status != 200)
            co_return changed;
        co_await adopted(service.gateway);
        if (target->endpoint == Endpoint::counters)
            co_return changed; // clearing counters is an event: the state file does not keep it
        const std::string why_not_kept = co_await saved(service.gateway);
        co_return why_not_kept.empty() ? changed : not_kept(changed, why_not_kept);
    }
    if (!needs_counters(target->endpoint))
        co_return at_once(service, *target, request);
    const observe::WorkerCounters sum = co_await collected(service.gateway);
    co_return with_counters(service, target->endpoint, sum);
}

} // namespace stint::admin
