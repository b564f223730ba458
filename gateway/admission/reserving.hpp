// Admission by limits with `retry_after: reserve`: a refused request gets a slot in a coming
// window, and a ticket for it.
#pragma once

#include "admission/local_reply.hpp"
#include "admission/rate_limit_headers.hpp"
#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/reservation/reservations.hpp"
#include "routing/charges.hpp"
#include "routing/key_template.hpp"

#include <boost/container/static_vector.hpp>

#include <span>
#include <string>

namespace stint::admission {

class Reserving {
  public:
    // seals: signs the tickets. `charges` outlives this object.
    Reserving(
        routing::Charges& charges,
        const routing::KeyFacts& facts,
        std::string& scratch,
        const KeyHasher& seals);

    // Admits the request, or reserves slots for its retry. told: records the decision for
    // rate-limit headers; null where the route sends none.
    [[nodiscard]] limits::Decision admit(const Now& now, RateLimitHeaders* told);
    // Decides like admit(), but charges and reserves nothing. states: one for each charge.
    [[nodiscard]] limits::Decision preview(const Now& now, std::span<limits::ChargeState> states);
    // Adds the tickets of the reserved slots to the reply. Call after a refusal, before
    // LocalReply::refuse().
    void add_tickets(LocalReply& reply) const;

  private:
    [[nodiscard]] std::span<limits::Charge> charges() noexcept {
        return {charges_.charges.data(), charges_.charges.size()};
    }

    routing::Charges& charges_;
    const KeyHasher& seals_;
    boost::container::static_vector<limits::Reservation, limits::max_charges> reserving_;
};

} // namespace stint::admission
