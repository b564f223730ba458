// Admission by limits that give a refused request a slot in a coming window, and its ticket.
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
    // seals: the hasher that seals tickets. The charges outlive it.
    Reserving(
        routing::Charges& charges,
        const routing::KeyFacts& facts,
        std::string& scratch,
        const KeyHasher& seals);

    // told: records the decision for rate-limit headers; null where the route sends none. claimed:
    // as in limits::admit_reserving().
    [[nodiscard]] limits::Decision
    admit(const Now& now, RateLimitHeaders* told, limits::ClaimedSlots* claimed = nullptr);
    // Decides like admit(), but charges and reserves nothing. states: one for each charge.
    [[nodiscard]] limits::Decision preview(const Now& now, std::span<limits::ChargeState> states);
    // Adds the tickets of the slots. Call after a refusal, before LocalReply::refuse().
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
