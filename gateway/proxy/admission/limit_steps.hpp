// What a request goes through before its route's limits, one step each: for those that are
// forwarded, and for those that another proxy asks about.
#pragma once

#include "base/time.hpp"
#include "limits/cooldown/cooldown.hpp"
#include "limits/prepaid.hpp"
#include "limits/reservation/reservations.hpp"
#include "observe/metrics.hpp"
#include "proxy/admission/rate_limit_headers.hpp"
#include "proxy/context.hpp"
#include "proxy/response/local_reply.hpp"
#include "routing/charges.hpp"
#include "routing/key_template.hpp"
#include "routing/route.hpp"

#include <boost/container/static_vector.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stint::proxy {

// The scope of the route's cool-down that the request is in. Requires: the route has one.
[[nodiscard]] limits::CooldownPtr cooldown_of(
    const routing::RouteCooldown& cooldown,
    const routing::KeyFacts& facts,
    std::string& scratch,
    SteadyTime now);

void count_exempt(
    observe::WorkerCounters& counters,
    const routing::Route& route,
    const routing::Charges& charges);

// Leaves out what the permit has paid for; of a charge that costs more the rest stays. False: it
// has paid for nothing.
bool leave_out_paid(routing::Charges& charges, const limits::PrepaidPermits::Claim& permit);

// What is worth noting of an admission beside that it was one. The name of the first limit that
// would have refused; empty: none.
std::string_view note_admission(
    observe::WorkerCounters& counters,
    const limits::Decision& decision,
    const routing::Charges& charges);

// Counts a refusal. How long its client is told to wait: as long as it has to, and the limit's
// jitter.
[[nodiscard]] Duration
note_refusal(Context& context, const routing::RouteLimit& limit, const limits::Decision& decision);

// The same for a request that Context::recent knows as `recent`; its key is one more of those that
// are refused the most.
[[nodiscard]] Duration note_refusal(
    Context& context,
    const ActiveConfig& config,
    std::uint64_t recent,
    const routing::Charges& charges,
    const limits::Decision& decision);

// Counts and remembers a request that a limit does not serve at all, however late it comes again.
void note_denial(Context& context, std::uint64_t recent, const routing::RouteLimit& limit);

// A request before limits that give those they refuse a slot in a coming window, and its ticket.
class Reserving {
  public:
    // seals: of tickets. The charges outlive it.
    Reserving(
        routing::Charges& charges,
        const routing::KeyFacts& facts,
        std::string& scratch,
        const KeyHasher& seals);

    // told: takes note of the decision; null where nothing is told.
    [[nodiscard]] limits::Decision admit(const Now& now, RateLimitHeaders* told);
    // After a refusal, before LocalReply::refuse().
    void add_tickets(LocalReply& reply) const;

  private:
    routing::Charges& charges_;
    const KeyHasher& seals_;
    boost::container::static_vector<limits::Reservation, limits::max_charges> reserving_;
};

} // namespace stint::proxy
