// Rate-limit headers of one response: the state of its route's limits.
#pragma once

#include "base/time.hpp"
#include "http/ratelimit_fields.hpp"
#include "limits/decision.hpp"
#include "routing/charges.hpp"

#include <boost/container/small_vector.hpp>

#include <span>

namespace stint::admission {

// Collects the policies for the headers. Callers note decisions only for a route that sends such
// headers; for any other the object stays empty. Names are views into the request's configuration
// snapshot.
class RateLimitHeaders {
  public:
    using ChargedLimits = std::span<const routing::AppliedLimit>; // one for each charge

    // Calls limits::try_admit(), and notes its decision.
    [[nodiscard]] limits::Decision try_admit(const routing::Charges& charges, const Now& now);
    // Notes a decision that was made at `now`. states: the counters as the decision left them.
    void note(
        std::span<const limits::Charge> charges,
        ChargedLimits limits,
        std::span<const limits::ChargeState> states,
        const limits::Decision& decision,
        const Now& now);
    // Notes the decision on a request that may have waited, with the counters' states at `now`.
    void note_turn(
        std::span<const limits::Charge> charges,
        ChargedLimits limits,
        const limits::Decision& decision,
        const Now& now);
    void clear() noexcept { policies_.clear(); }

    [[nodiscard]] bool empty() const noexcept { return policies_.empty(); }
    // Returns the header fields to write. now: when the response's head is written. The result is
    // valid until this object changes.
    [[nodiscard]] http::PolicyFields
    fields(const routing::RateLimitHeaderSettings& telling, const Now& now) const noexcept;

  private:
    boost::container::small_vector<http::PolicyState, limits::few_charges> policies_;
};

} // namespace stint::admission
