#include "admin/status.hpp"

#include "admin/config_json.hpp"
#include "config/sections/section_showers.hpp"
#include "limits/counter/tally.hpp"
#include "limits/reservation/reservations.hpp"
#include "observe/access_log.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace stint::admin {
namespace {

// Returns the counters of a slot; zeros if there is no such slot, or no worker has it yet.
template <class BySlot>
auto counters_of(std::optional<std::uint32_t> slot, const BySlot& counters) {
    using Counters = std::remove_cvref_t<decltype(counters[0])>;
    return slot && *slot < counters.size() ? counters[*slot] : Counters{};
}

Json requests_json(const observe::RouteCounters& counters) {
    Json requests = Json::object();
    for (std::size_t i = 0; i < observe::outcome_count; ++i) {
        const auto& by_class = counters.requests[i];
        requests[std::string{observe::to_text(static_cast<observe::Outcome>(i))}] =
            std::accumulate(by_class.begin(), by_class.end(), std::uint64_t{0});
    }
    return requests;
}

Json endpoint_json(const config::Endpoint& endpoint, const upstream::AddressBook& addresses) {
    Json json{{"endpoint", endpoint.text}};
    if (!endpoint.is_unix && upstream::Resolver::is_name(endpoint.host)) {
        const auto known = addresses.find(endpoint.host);
        json["addresses"] = known == addresses.end() ? Json::array() : Json(known->second);
    }
    return json;
}

} // namespace

Json limit_json(
    const config::Limit& settings,
    const limits::Limit& limit,
    const std::optional<ChosenKey>& key,
    const Now& now) {
    Json json{{"name", settings.name}};
    json.update(limit_settings_json(settings));
    if (key) // the key may have an override with another quota
        json.update({{"key_value", key->text}, {"limit", key->numbers.quota}});
    const bool cap = settings.kind == config::Limit::Kind::cap;
    const bool one_counter = !limit.keyed() || key;
    if (one_counter) {
        const limits::Numbers numbers =
            key ? key->numbers : limits::Numbers{settings.quota, settings.burst};
        const limits::CounterState state = limit.state_of(
            {.key = key ? key->hash : Hash128{}, .quota = numbers.quota, .burst = numbers.burst},
            now);
        json[cap ? "in_flight" : "used"] = state.used;
        json["remaining"] = state.remaining;
        if (!cap)
            json["resets_in_ms"] = ceil_ms(state.resets_in);
    } else if (cap) {
        json["in_flight"] = limit.in_flight();
    }
    json["refused"] = limit.refused();
    if (!settings.enforce)
        json["would_refuse"] = limit.dry_run().would_refuse();
    if (!settings.enforce && settings.wait)
        json["would_wait"] = limit.dry_run().would_wait();
    if (settings.enforce && settings.wait)
        json["waiting"] = limit.waiting();
    if (!settings.reserve_for.empty()) {
        json["reserved"] = limit.reservations().out(now.steady);
        json["slots_given"] = limit.reservations().given();
        json["slots_claimed"] = limit.reservations().claimed();
        json["slots_missed"] = limit.reservations().missed();
    }
    if (limit.keyed()) {
        json["live_keys"] = limit.live_keys(now);
        json["overflowed"] = limit.tally().overflowed();
        json["table_full"] = limit.tally().table_full();
    }
    return json;
}

Json cooldowns_json(const std::vector<limits::CooldownSetPtr>& sets, SteadyTime now) {
    using Phase = limits::CooldownState::Phase;
    const auto text_of = [](Phase phase) {
        return phase == Phase::paused    ? "paused"
               : phase == Phase::probing ? "probing"
               : phase == Phase::ramping ? "ramping"
                                         : "open"; // no pause, but requests wait for the pace
    };
    Json cooldowns = Json::array();
    for (const limits::CooldownSetPtr& set : sets)
        for (const limits::CooldownPtr& each : set->all()) {
            const limits::CooldownState state = each->state(now);
            if (state.phase == Phase::open && state.waiting == 0)
                continue;
            cooldowns.push_back(
                {{"of", set->identity().owner},
                 {"scope", set->identity().scope},
                 {"name", state.of},
                 {"state", text_of(state.phase)},
                 {"status", state.status},
                 {"remaining_ms", ceil_ms(state.left)},
                 {"rate_per_second", state.rate},
                 {"pauses", state.pauses},
                 {"refused", state.refused},
                 {"waiting", state.waiting}});
            if (state.elsewhere)
                cooldowns.back()["elsewhere"] = true;
        }
    return cooldowns;
}

Json routes_status_json(
    const config::Config& config,
    const observe::WorkerCounters& counters,
    const observe::MetricSlots& slots) {
    Json routes = Json::array();
    for (const config::Route& route : config.routes) {
        const config::Upstream& upstream = config::upstream_of(config, route);
        const auto counted = counters_of(slots.route_slot(route.name), counters.routes);
        Json json{{"name", route.name}};
        json.update(match_json(route.match));
        if (!route.answer)
            json["upstream"] = upstream.name;
        json["limits"] = limit_names_json(config, route);
        json["timeouts"] = timeouts_json(config.timeouts, upstream.timeouts, route.timeouts);
        json["requests_in_flight"] = counted.in_flight;
        json["requests"] = requests_json(counted);
        json["bytes_in"] = counted.bytes_in;
        json["bytes_out"] = counted.bytes_out;
        routes.push_back(std::move(json));
    }
    return routes;
}

Json upstreams_status_json(
    const config::Config& config,
    const upstream::AddressBook& addresses,
    const observe::WorkerCounters& counters,
    const observe::MetricSlots& slots) {
    Json upstreams = Json::array();
    for (const config::Upstream& upstream : config.upstreams) {
        const auto counted = counters_of(slots.upstream_slot(upstream.name), counters.upstreams);
        Json endpoints = Json::array();
        for (const config::Endpoint& endpoint : upstream.endpoints)
            endpoints.push_back(endpoint_json(endpoint, addresses));
        Json json{{"name", upstream.name}, {"endpoints", endpoints}};
        if (!upstream.host.empty())
            json["host"] = upstream.host;
        json["timeouts"] = timeouts_json(config.timeouts, upstream.timeouts);
        json["connections_idle"] = counted.idle;
        json["connects"] = counted.connects;
        json["connect_failures"] = counted.connect_failures;
        json["reused"] = counted.reused;
        json["retries"] = counted.retries;
        json["retries_over_budget"] = counted.retries_over_budget;
        upstreams.push_back(std::move(json));
    }
    return upstreams;
}

} // namespace stint::admin
