// What the response to one request tells of its route's limits.
#pragma once

#include "base/time.hpp"
#include "http/ratelimit_fields.hpp"
#include "limits/decision.hpp"
#include "routing/charges.hpp"

#include <boost/container/static_vector.hpp>

#include <span>

namespace stint::proxy {

// Empty on a route that tells nothing, which is not to note anything. Names are views into the
// exchange's configuration.
class RateLimitHeaders {
  public:
    using ChargedLimits = std::span<const routing::RouteLimit* const>; // of each charge

    // limits::admit(), of which it takes note.
    [[nodiscard]] limits::Decision admit(const routing::Charges& charges, const Now& now);
    // A decision as it was made at `now`; states: as it has left the counters.
    void note(
        std::span<const limits::Charge> charges,
        ChargedLimits limits,
        std::span<const limits::ChargeState> states,
        const limits::Decision& decision,
        const Now& now);
    // That of a request that may have waited: as the counters are by now.
    void note_turn(
        std::span<const limits::Charge> charges,
        ChargedLimits limits,
        const limits::Decision& decision,
        const Now& now);
    void clear() noexcept { policies_.clear(); }

    [[nodiscard]] bool empty() const noexcept { return policies_.empty(); }
    // now: when the response's head is written. Valid until the next change.
    [[nodiscard]] http::PolicyFields
    fields(const routing::RateLimitHeaderSettings& telling, const Now& now) const noexcept;

  private:
    boost::container::static_vector<http::PolicyState, limits::max_charges> policies_;
};

} // namespace stint::proxy
