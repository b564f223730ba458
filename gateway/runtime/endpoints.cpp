// Gateway: shows and changes upstream endpoints on the control thread.
#include "runtime/gateway.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace stint::runtime {

const routing::UpstreamSpec* Gateway::upstream_named(std::string_view name) const noexcept {
    const auto& upstreams = compiled_.snapshot->upstreams;
    const auto found = std::ranges::find(upstreams, name, &routing::UpstreamSpec::name);
    return found == upstreams.end() ? nullptr : &*found;
}

upstream::EndpointStatePtr Gateway::set_drained(
    const routing::UpstreamSpec& upstream, std::string_view endpoint, bool drained) {
    const auto found =
        std::ranges::find(upstream.endpoints, endpoint, &routing::EndpointSpec::text);
    if (found == upstream.endpoints.end())
        return nullptr;
    if (drained)
        found->state->drain();
    else
        found->state->enable(now().steady);
    spdlog::info(
        "upstream {}: {} was {} by an operator", upstream.name, found->text,
        drained ? "drained" : "enabled");
    return found->state;
}

std::vector<observe::ProcessFigures::EndpointFigures> Gateway::endpoint_figures() const {
    std::vector<observe::ProcessFigures::EndpointFigures> figures;
    const SteadyTime at = now().steady;
    for (const routing::UpstreamSpec& upstream : compiled_.snapshot->upstreams)
        for (const routing::EndpointSpec& endpoint : upstream.endpoints) {
            const upstream::EndpointState& state = *endpoint.state;
            figures.push_back(
                {.upstream = upstream.name,
                 .endpoint = endpoint.text,
                 .metric = upstream.metric,
                 .up = state.up(at),
                 .in_flight = state.in_flight(),
                 .ejections = state.ejections(),
                 .failures = state.failures(),
                 .checks_passed = state.checks_passed(),
                 .checks_failed = state.checks_failed()});
        }
    return figures;
}

} // namespace stint::runtime
