// What a scrape shows of permits that callers ask for.
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
    tickets.add({{"event", "issued"}}, sum.tickets_issued);
    tickets.add({{"event", "used"}}, sum.tickets_used);
    tickets.add({{"event", "unknown"}}, sum.tickets_unknown);
}

} // namespace stint::observe
