// Steps of a request before its route's limits, one function each: for requests that are forwarded,
// and for those that another proxy asks about.
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

// Returns the cooldown scope of the request. Requires: the route has a cooldown.
[[nodiscard]] limits::CooldownPtr cooldown_of(
    const routing::RouteCooldown& cooldown,
    const routing::KeyFacts& facts,
    std::string& scratch,
    SteadyTime now);

void count_exempt(
    observe::WorkerCounters& counters,
    const routing::Route& route,
    const routing::Charges& charges);

// Leaves out of the charges what the permit has paid for; of a charge that costs more the rest
// stays. False: it has paid for nothing.
bool leave_out_paid(routing::Charges& charges, const limits::PrepaidPermits::Claim& permit);

// Counts limits that would have refused an admitted request, and logs full key tables. Returns the
// name of the first such limit; empty: none.
std::string_view note_admission(
    observe::WorkerCounters& counters,
    const limits::Decision& decision,
    const routing::Charges& charges);

// Counts a refusal. Returns the client's Retry-After: the time it has to wait, plus the limit's
// jitter.
[[nodiscard]] Duration
note_refusal(Context& context, const routing::RouteLimit& limit, const limits::Decision& decision);

// The same for a request that Context::recent knows as `recent`, which is noted there. Counts its
// key among those that are refused the most.
[[nodiscard]] Duration note_refusal(
    Context& context,
    const ActiveConfig& config,
    std::uint64_t recent,
    const routing::Charges& charges,
    const limits::Decision& decision);

// Counts and records a request that a limit does not serve at all, however late it is retried.
void note_denial(Context& context, std::uint64_t recent, const routing::RouteLimit& limit);

// Admission by limits that give a refused request a slot in a coming window, and its ticket.
class Reserving {
  public:
    // seals: the hasher that seals tickets. The charges outlive it.
    Reserving(
        routing::Charges& charges,
        const routing::KeyFacts& facts,
        std::string& scratch,
        const KeyHasher& seals);

    // told: records the decision for rate-limit headers; null where the route sends none.
    [[nodiscard]] limits::Decision admit(const Now& now, RateLimitHeaders* told);
    // Adds the tickets of the slots. Call after a refusal, before LocalReply::refuse().
    void add_tickets(LocalReply& reply) const;

  private:
    routing::Charges& charges_;
    const KeyHasher& seals_;
    boost::container::static_vector<limits::Reservation, limits::max_charges> reserving_;
};

} // namespace stint::proxy
