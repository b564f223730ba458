#include "admin/endpoints.hpp"

#include "admin/access.hpp"
#include "upstream/endpoint_group.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace stint::admin {
namespace {

std::string_view state_text(const upstream::EndpointState& state, SteadyTime now) {
    return state.drained()    ? "drained"
           : !state.healthy() ? "unhealthy"
           : state.up(now)    ? "up"
                              : "ejected";
}

Json state_json(
    const routing::EndpointSpec& endpoint, std::uint64_t counted_elsewhere, SteadyTime now) {
    const upstream::EndpointState& state = *endpoint.state;
    Json json{
        {"weight", endpoint.weight},
        {"state", state_text(state, now)},
        {"requests_in_flight", state.in_flight() + counted_elsewhere},
        {"failures_in_a_row", state.failures_in_a_row()},
        {"failures", state.failures()},
        {"ejections", state.ejections()}};
    if (endpoint.max_requests > 0)
        json["max_requests"] = endpoint.max_requests;
    if (state.ejected_until() > now)
        json["ejected_for_ms"] = ceil_ms(state.ejected_until() - now);
    if (const std::string why = state.last_failure(); !why.empty())
        json["last_failure"] = why;
    if (const auto check = state.last_check(); check.at != SteadyTime{})
        json["last_check"] = {
            {"passed", check.passed}, {"found", check.found}, {"ago_ms", ceil_ms(now - check.at)}};
    return json;
}

} // namespace

void add_endpoint_states(
    Json& upstreams,
    const routing::Snapshot& snapshot,
    const observe::WorkerCounters& counters,
    SteadyTime now) {
    for (std::size_t i = 0; i < snapshot.upstreams->size(); ++i) {
        const routing::UpstreamSpec& spec = (*snapshot.upstreams)[i];
        const bool known = spec.metric < counters.upstreams.size();
        upstreams[i]["waiting"] = spec.balance.group->queue().waiting();
        for (std::size_t j = 0; j < spec.endpoints.size(); ++j)
            upstreams[i]["endpoints"][j].update(state_json(
                spec.endpoints[j], known ? counters.upstreams[spec.metric].in_flight : 0, now));
    }
}

Response set_drained(
    runtime::Gateway& gateway,
    const std::string& upstream,
    const std::string& endpoint,
    bool drained,
    const runtime::Attribution& by) {
    if (auto refusal = refuse_late_change(gateway))
        return std::move(*refusal);
    const routing::UpstreamSpec* const spec = gateway.store().upstream_named(upstream);
    if (spec == nullptr)
        return problem(404, "There is no upstream named \"" + upstream + "\".");
    const auto state = gateway.changes().set_drained(*spec, endpoint, drained, by);
    if (!state)
        return problem(
            404, "The upstream " + upstream + " has no endpoint \"" + endpoint +
                     "\"; it is written as in the configuration, percent-encoded.");
    return json_response(
        {{"upstream", upstream},
         {"endpoint", endpoint},
         {"state", state_text(*state, gateway.now().steady)}});
}

} // namespace stint::admin
