#include "runtime/health_checks.hpp"

#include "http/proxy_header.hpp"
#include "net/clock.hpp"
#include "upstream/cluster.hpp"

#include <cstddef>

namespace stint::runtime {
namespace {

upstream::HealthSpec spec_of(
    const config::HealthCheck& health,
    const routing::UpstreamSpec& upstream,
    const routing::EndpointSpec& endpoint) {
    upstream::HealthSpec spec;
    spec.path = health.path;
    spec.host = upstream.host.empty() ? endpoint.authority : upstream.host;
    using Protocol = routing::UpstreamSpec::ProxyProtocol;
    if (upstream.proxy_protocol == Protocol::v1)
        http::append_proxy_header_v1(spec.proxy_protocol_header, {});
    else if (upstream.proxy_protocol == Protocol::v2)
        http::append_proxy_header_v2(spec.proxy_protocol_header, {});
    spec.interval = health.interval;
    spec.timeout = health.timeout;
    spec.rules = {health.healthy_after, health.unhealthy_after};
    for (const config::HealthCheck::Statuses& each : health.expect)
        spec.expect.push_back({each.first, each.last});
    return spec;
}

} // namespace

// Starts a check with a random first delay of up to one interval, so that the checks of many
// endpoints, and of many gateways started together, are spread over time.
HealthChecks::Entry HealthChecks::started(
    const std::string& upstream,
    const routing::EndpointSpec& endpoint,
    upstream::HealthSpec spec,
    const upstream::AddressBook& addresses) {
    const double part = std::uniform_real_distribution<>{0.0, 1.0}(random_);
    const auto delay = std::chrono::duration_cast<Duration>(spec.interval * part);
    Entry entry{
        endpoint, std::make_shared<upstream::HealthCheck>(
                      executor_, upstream, std::move(spec), endpoint.state,
                      upstream::addresses_of(endpoint, &addresses))};
    entry.check->set_tls(endpoint.tls, endpoint.server_name);
    entry.check->start(delay);
    return entry;
}

void HealthChecks::apply(
    const config::Config& config,
    const routing::Snapshot& snapshot,
    const upstream::AddressBook& addresses) {
    Checks former = std::exchange(checks_, {});
    for (std::size_t i = 0; i < snapshot.upstreams->size(); ++i) {
        const auto& health = config.upstreams[i].load.health;
        const routing::UpstreamSpec& upstream = (*snapshot.upstreams)[i];
        for (const routing::EndpointSpec& endpoint : upstream.endpoints) {
            const std::pair name{upstream.name, endpoint.text};
            const auto known = former.find(name);
            upstream::HealthSpec spec;
            if (health)
                spec = spec_of(*health, upstream, endpoint);
            const bool goes_on = health && known != former.end() &&
                                 known->second.check->spec() == spec &&
                                 known->second.endpoint.state == endpoint.state &&
                                 known->second.endpoint.tls == endpoint.tls &&
                                 known->second.endpoint.server_name == endpoint.server_name;
            if (goes_on) {
                checks_.insert(former.extract(known));
            } else if (known != former.end()) {
                known->second.check->stop();
                former.erase(known);
            }
            if (health && !goes_on)
                checks_.emplace(name, started(upstream.name, endpoint, std::move(spec), addresses));
            else if (!health)
                endpoint.state->set_healthy(net::read_steady_clock());
        }
    }
    for (const auto& [name, entry] : former)
        entry.check->stop();
}

void HealthChecks::apply(const upstream::AddressBook& addresses) {
    for (auto& [name, entry] : checks_)
        entry.check->set_addresses(upstream::addresses_of(entry.endpoint, &addresses));
}

void HealthChecks::stop() noexcept {
    for (const auto& [name, entry] : checks_)
        entry.check->stop();
    checks_.clear();
}

} // namespace stint::runtime
