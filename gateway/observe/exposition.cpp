#include "observe/exposition_page.hpp"
#include "observe/metrics.hpp"
#include "observe/process.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::observe {

namespace {

// Adds a sample for each name to the family. counters: have the indices of `names`; a name whose
// index is beyond their end counts zero.
template <class BySlot, class Counters, class Value>
void add_each(
    Page::Family family,
    const std::string& label,
    const std::vector<std::string>& names,
    const BySlot& counters,
    Value Counters::*member) {
    static const Counters none{};
    for (std::size_t i = 0; i < names.size(); ++i)
        family.add({{label, names[i]}}, (i < counters.size() ? counters[i] : none).*member);
}

std::string status_class(std::size_t first_digit) {
    return first_digit == 0 ? "none" : std::to_string(first_digit) + "xx";
}

void add_requests(Page::Family family, const std::string& route, const RouteCounters& counters) {
    for (std::size_t outcome = 0; outcome < counters.requests.size(); ++outcome)
        for (std::size_t digit = 0; digit < counters.requests[outcome].size(); ++digit)
            if (const std::uint64_t count = counters.requests[outcome][digit]; count > 0)
                family.add(
                    {{"route", route},
                     {"decision", std::string{to_text(static_cast<Outcome>(outcome))}},
                     {"status", status_class(digit)}},
                    count);
}

void add_by_limit(
    Page::Family family, const std::vector<std::uint64_t>& counters, const MetricSlots& slots) {
    for (std::size_t i = 0; i < slots.refusals().size(); ++i)
        family.add(
            {{"route", slots.refusals()[i].first}, {"limit", slots.refusals()[i].second}},
            i < counters.size() ? counters[i] : 0);
}

std::vector<std::uint64_t>
of_each(const std::vector<DryRunCounters>& all, std::uint64_t DryRunCounters::*member) {
    std::vector<std::uint64_t> values;
    for (const DryRunCounters& each : all)
        values.push_back(each.*member);
    return values;
}

void add_routes(Page& page, const WorkerCounters& sum, const MetricSlots& slots) {
    const auto& names = slots.routes();
    auto requests = page.counter(
        "stint_requests_total",
        "Requests that ended, by route, by what became of them and by the class of the status "
        "sent (none: no answer was sent).");
    for (std::size_t i = 0; i < std::min(names.size(), sum.routes.size()); ++i)
        add_requests(requests, names[i], sum.routes[i]);
    add_by_limit(
        page.counter(
            "stint_refusals_total", "Requests refused, by route and by the limit that refused."),
        sum.refusals, slots);
    add_by_limit(
        page.counter(
            "stint_limit_denied_total",
            "Requests answered 403, by route and by the limit that never admits them."),
        sum.denied, slots);
    add_by_limit(
        page.counter(
            "stint_fence_refusals_total",
            "Requests answered 412, by route and by the lock whose fencing number they lacked."),
        sum.fenced_off, slots);
    add_by_limit(
        page.counter(
            "stint_limit_exempted_total", "Times a limit of the route did not concern a request."),
        sum.exempted, slots);
    add_by_limit(
        page.counter(
            "stint_would_refuse_total",
            "Requests that a limit which is not enforced would have refused."),
        of_each(sum.dry_runs, &DryRunCounters::would_refuse), slots);
    add_by_limit(
        page.counter(
            "stint_would_wait_total",
            "Requests that a limit which is not enforced would have let wait."),
        of_each(sum.dry_runs, &DryRunCounters::would_wait), slots);
    add_by_limit(
        page.counter(
            "stint_cost_overruns_total", "Requests that cost a limit more than was "
                                         "reserved, and counted what was reserved."),
        sum.overruns, slots);
    const auto each = [&](Page::Family family, auto member) {
        add_each(family, "route", names, sum.routes, member);
    };
    each(
        page.gauge(
            "stint_requests_in_flight", "Requests whose answer has not been relayed to its end."),
        &RouteCounters::in_flight);
    each(
        page.counter("stint_request_body_bytes_total", "Body bytes received from clients."),
        &RouteCounters::bytes_in);
    each(
        page.counter("stint_response_bytes_total", "Bytes sent to clients, heads and bodies."),
        &RouteCounters::bytes_out);
}

void add_upstreams(Page& page, const WorkerCounters& sum, const MetricSlots& slots) {
    const auto each = [&](Page::Family family, auto member) {
        add_each(family, "upstream", slots.upstreams(), sum.upstreams, member);
    };
    each(
        page.family(
            "stint_upstream_latency_seconds", Type::Histogram,
            "Time from having sent the request to the head of its response."),
        &UpstreamCounters::latency);
    each(
        page.counter("stint_upstream_connects_total", "Connections opened to the upstream."),
        &UpstreamCounters::connects);
    each(
        page.counter(
            "stint_upstream_connect_failures_total",
            "Connections to the upstream that could not be opened."),
        &UpstreamCounters::connect_failures);
    each(
        page.counter("stint_upstream_reused_total", "Requests sent on a pooled connection."),
        &UpstreamCounters::reused);
    each(
        page.counter(
            "stint_upstream_retries_total",
            "Requests sent once more: a pooled connection had died, or retry says so."),
        &UpstreamCounters::retries);
    each(
        page.counter(
            "stint_upstream_retries_over_budget_total",
            "Requests that were not sent once more because of retry.budget."),
        &UpstreamCounters::retries_over_budget);
    each(
        page.gauge("stint_upstream_idle_connections", "Pooled connections waiting for a request."),
        &UpstreamCounters::idle);
}

void add_waits(Page& page, const WorkerCounters& sum, const MetricSlots& slots) {
    const auto each = [&](Page::Family family, auto member) {
        add_each(family, "limit", slots.waits(), sum.waits, member);
    };
    each(
        page.family(
            "stint_limit_wait_seconds", Type::Histogram,
            "Time that requests waited for their turn before they were admitted."),
        &WaitCounters::time);
    each(
        page.counter(
            "stint_limit_refused_after_waiting_total",
            "Requests answered 429 after they had waited for their turn."),
        &WaitCounters::refused);
}

void add_slots(Page& page, const ProcessFigures& figures) {
    using Slots = ProcessFigures::SlotFigures;
    const auto each = [&](Page::Family family, auto member) {
        for (const auto& limit : figures.limits)
            if (limit.slots)
                family.add({{"limit", limit.name}}, (*limit.slots).*member);
    };
    each(
        page.gauge(
            "stint_limit_reserved",
            "Slots in coming windows that refused requests may still claim."),
        &Slots::reserved);
    each(
        page.counter("stint_limit_slots_given_total", "Slots given to requests that were refused."),
        &Slots::given);
    each(
        page.counter(
            "stint_limit_slots_claimed_total",
            "Slots whose holder came back in time and was admitted."),
        &Slots::claimed);
    each(
        page.counter(
            "stint_limit_slots_missed_total",
            "Refusals without a slot: too many were out, no memory, or too far ahead."),
        &Slots::missed);
}

void add_limits(Page& page, const ProcessFigures& figures) {
    const auto each = [&](Page::Family family, auto wanted, auto member) {
        for (const ProcessFigures::LimitFigures& limit : figures.limits)
            if (wanted(limit))
                family.add({{"limit", limit.name}}, limit.*member);
    };
    using Limit = ProcessFigures::LimitFigures;
    const auto alone = [](const Limit& limit) { return !limit.others; };
    const auto keyed = [](const Limit& limit) { return limit.keyed || limit.others; };
    const auto unkeyed = [](const Limit& limit) { return !limit.keyed; };
    each(
        page.gauge(
            "stint_limit_quota", "Requests a window admits, or at once for a cap (for each key)."),
        alone, &Limit::quota);
    each(
        page.gauge(
            "stint_limit_used",
            "Requests admitted in the current window, or in flight for a cap (without a key)."),
        unkeyed, &Limit::used);
    each(
        page.gauge("stint_limit_live_keys", "Keys with a window open or a request in flight."),
        keyed, &Limit::live_keys);
    each(
        page.counter(
            "stint_limit_overflow_total",
            "Requests admitted while the limit's table had no room for their key."),
        keyed, &Limit::overflow);
    each(
        page.counter(
            "stint_limit_table_full_total",
            "Requests refused because there was no memory to count another key."),
        keyed, &Limit::table_full);
    each(
        page.gauge("stint_limit_overrides", "Overrides in force, for a key or a pattern of keys."),
        keyed, &Limit::overrides);
    each(
        page.gauge("stint_limit_waiting", "Requests that wait for their turn."),
        [](const Limit& limit) { return limit.waits; }, &Limit::waiting);
    add_slots(page, figures);
}

void add_cooldowns(Page& page, const ProcessFigures& figures) {
    using Cooldown = ProcessFigures::CooldownFigures;
    const auto each = [&](Page::Family family, auto member) {
        for (const Cooldown& cooldown : figures.cooldowns)
            family.add({{"of", cooldown.owner}, {"scope", cooldown.scope}}, cooldown.*member);
    };
    each(
        page.gauge(
            "stint_cooldown_paused",
            "Scopes (hosts, routes, keys) to which nothing is sent because the "
            "upstream asked for a pause."),
        &Cooldown::paused);
    each(
        page.counter("stint_cooldown_pauses_total", "Pauses that upstreams asked for."),
        &Cooldown::pauses);
    each(
        page.counter(
            "stint_cooldown_refusals_total",
            "Requests refused because of a pause, or on the way out of one."),
        &Cooldown::refused);
    each(
        page.gauge(
            "stint_cooldown_waiting",
            "Requests that wait for a pause to end, or for their turn on the way out of one."),
        &Cooldown::waiting);
}

void add_process(Page& page, const ProcessFigures& figures) {
    page.gauge("stint_build_info", "Always 1; the labels say what is running.")
        .add({{"version", figures.version}, {"compiler", "gcc " __VERSION__}}, 1.0);
    page.gauge("stint_workers", "Worker threads.")
        .add({}, static_cast<std::uint64_t>(figures.workers));
    page.gauge("process_start_time_seconds", "Start of the process since the Unix epoch.")
        .add({}, figures.start_time_seconds);
    const ProcessUsage usage = read_process_usage();
    page.counter("process_cpu_seconds_total", "User and system CPU time spent.")
        .add({}, usage.cpu_seconds);
    const auto gauge = [&page](const char* name, const char* help, const auto& value) {
        if (value)
            page.gauge(name, help).add({}, *value);
    };
    gauge("process_resident_memory_bytes", "Resident memory.", usage.resident_bytes);
    gauge("process_open_fds", "Open file descriptors.", usage.open_files);
    gauge("process_max_fds", "Soft limit on open file descriptors.", usage.open_files_limit);
}

} // namespace

std::string
exposition(const WorkerCounters& sum, const MetricSlots& slots, const ProcessFigures& figures) {
    Page page;
    add_routes(page, sum, slots);
    add_upstreams(page, sum, slots);
    add_endpoints(page, sum, figures);
    add_connections(page, sum);
    add_in_flight(page, figures.in_flight);
    add_limits(page, figures);
    add_cooldowns(page, figures);
    add_waits(page, sum, slots);
    if (figures.permits) {
        add_permits(page, sum, slots, figures);
        add_locks(page, sum, figures);
    }
    add_configuration(page, figures);
    add_process(page, figures);
    return page.text();
}

} // namespace stint::observe
