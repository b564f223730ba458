// Metrics of upstream endpoints.
#include "observe/exposition_page.hpp"

namespace stint::observe {

void add_endpoints(Page& page, const WorkerCounters& sum, const ProcessFigures& figures) {
    using Endpoint = ProcessFigures::EndpointFigures;
    const auto each = [&](Page::Family family, auto value_of) {
        for (const Endpoint& endpoint : figures.endpoints)
            family.add(
                {{"upstream", endpoint.upstream}, {"endpoint", endpoint.endpoint}},
                std::uint64_t{value_of(endpoint)});
    };
    each(
        page.gauge(
            "stint_endpoint_up",
            "1 while the endpoint takes requests; 0 while it is unhealthy, ejected or drained."),
        [](const Endpoint& endpoint) { return endpoint.up ? 1U : 0U; });
    each(
        page.gauge("stint_endpoint_requests_in_flight", "Requests that the endpoint has now."),
        [&](const Endpoint& endpoint) {
            const bool known = endpoint.metric < sum.upstreams.size();
            return endpoint.in_flight + (known ? sum.upstreams[endpoint.metric].in_flight : 0);
        });
    each(
        page.counter(
            "stint_endpoint_ejections_total",
            "Times that the endpoint was taken out because requests failed."),
        [](const Endpoint& endpoint) { return endpoint.ejections; });
    each(
        page.counter(
            "stint_endpoint_failures_total",
            "Requests that failed at the endpoint: no connection, no answer, or 500, 502, 503 or "
            "504."),
        [](const Endpoint& endpoint) { return endpoint.failures; });
    auto checks = page.counter(
        "stint_endpoint_health_checks_total", "Active checks of the endpoint, by result.");
    for (const Endpoint& endpoint : figures.endpoints) {
        const auto add = [&](const char* result, std::uint64_t count) {
            checks.add(
                {{"upstream", endpoint.upstream},
                 {"endpoint", endpoint.endpoint},
                 {"result", result}},
                count);
        };
        add("passed", endpoint.checks_passed);
        add("failed", endpoint.checks_failed);
    }
}

} // namespace stint::observe
