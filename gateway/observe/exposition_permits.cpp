// What a scrape shows of permits.
#include "observe/exposition_page.hpp"

namespace stint::observe {

void add_permits(Page& page, const WorkerCounters& sum) {
    auto tickets = page.counter(
        "stint_permit_tickets_total",
        "Permits for requests in X-Stint-Permit: issued, used by a request, or shown in vain "
        "(unknown, used, expired, or of other limits).");
    tickets.add({{"event", "issued"}}, sum.tickets_issued);
    tickets.add({{"event", "used"}}, sum.tickets_used);
    tickets.add({{"event", "unknown"}}, sum.tickets_unknown);
}

} // namespace stint::observe
