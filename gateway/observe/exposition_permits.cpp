// Metrics of the permits that clients of the permit API acquire.
#include "observe/exposition_page.hpp"

#include <cstddef>

namespace stint::observe {

void add_permits(
    Page& page,
    const WorkerCounters& sum,
    const MetricSlots& slots,
    const ProcessFigures& figures) {
    const auto at = [](const std::vector<std::uint64_t>& counters, std::size_t slot) {
        return slot < counters.size() ? counters[slot] : 0;
    };
    auto asked = page.counter(
        "stint_permits_total", "Asks for permits, by limit and by what became of them.");
    for (std::size_t i = 0; i < slots.refusals().size(); ++i) {
        const auto& [route, limit] = slots.refusals()[i];
        if (route != permits_route)
            continue;
        asked.add({{"limit", limit}, {"decision", "granted"}}, at(sum.granted, i));
        asked.add({{"limit", limit}, {"decision", "refused"}}, at(sum.refusals, i));
        asked.add({{"limit", limit}, {"decision", "replayed"}}, at(sum.replayed, i));
    }
    page.gauge("stint_permit_waiting", "Asks that wait for their turn.")
        .add({}, sum.permits_waiting);
    page.family(
            "stint_permit_wait_seconds", Type::Histogram,
            "How long those permits waited that were granted after a wait.")
        .add({}, sum.permit_waits.time);
    page.counter("stint_permit_waits_refused_total", "Asks refused after they had waited.")
        .add({}, sum.permit_waits.refused);
    page.gauge("stint_permit_connections", "Open connections of callers who ask for permits.")
        .add({}, sum.permit_connections);
    page.gauge("stint_permit_dynamic_limits", "Limits that callers have brought.")
        .add({}, figures.dynamic_limits);
    auto tickets = page.counter(
        "stint_permit_tickets_total",
        "Permits for requests in X-Stint-Permit: issued, used by a request, or shown in vain "
        "(unknown, used, expired, or of other limits).");
    tickets.add({{"event", "issued"}}, sum.tickets[observe::WorkerCounters::issued]);
    tickets.add({{"event", "used"}}, sum.tickets[observe::WorkerCounters::used]);
    tickets.add({{"event", "unknown"}}, sum.tickets[observe::WorkerCounters::unknown]);
}

void add_locks(Page& page, const WorkerCounters& sum, const ProcessFigures& figures) {
    using Figures = ProcessFigures::LockFigures;
    const auto gauge = [&](const char* name, const char* help, std::uint64_t Figures::*value) {
        auto family = page.gauge(name, help);
        for (const Figures& each : figures.locks)
            family.add({{"lock", each.name}}, each.*value);
    };
    gauge("stint_lock_held", "Slots of a lock that are held by leases.", &Figures::held);
    gauge("stint_lock_waiting", "Asks for a lease that wait for their turn.", &Figures::waiting);
    gauge("stint_lock_max", "Slots of a lock; 0 for those that callers make.", &Figures::max);
    auto asked = page.counter(
        "stint_lock_leases_total", "Asks for a lease, by lock and by what became of them.");
    for (const Figures& each : figures.locks) {
        asked.add({{"lock", each.name}, {"decision", "granted"}}, each.granted);
        asked.add({{"lock", each.name}, {"decision", "refused"}}, each.refused);
    }
    auto ended = page.counter(
        "stint_lock_ends_total",
        "Leases that ended, by lock and by what ended them; expired: nobody gave them back.");
    for (const Figures& each : figures.locks) {
        ended.add({{"lock", each.name}, {"by", "release"}}, each.released);
        ended.add({{"lock", each.name}, {"by", "disconnect"}}, each.disconnected);
        ended.add({{"lock", each.name}, {"by", "force"}}, each.forced);
        ended.add({{"lock", each.name}, {"by", "expiry"}}, each.expired);
    }
    page.family(
            "stint_lock_wait_seconds", Type::Histogram,
            "How long those waited for a lease who got one after a wait.")
        .add({}, sum.lock_waits.time);
    page.counter("stint_lock_waits_refused_total", "Asks for a lease refused after a wait.")
        .add({}, sum.lock_waits.refused);
}

} // namespace stint::observe
