// Paces requests by the rate limit that an upstream reports: spreads the remaining requests over
// the time until the upstream's reset.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>

namespace stint::limits {

// Nothing is paced before the upstream has reported limits. When the reported window is over, one
// request (the scout) is sent to learn the next window's numbers. The others wait for its answer,
// because together they could exceed the new window. Pure; not thread-safe.
class LearnedPace {
  public:
    struct Told {
        std::uint64_t remaining = 0;
        Duration reset{}; // time from now to the upstream's reset
    };

    // Returns how long the next request has to wait; zero: it may be sent now.
    [[nodiscard]] Duration wait(SteadyTime now) const noexcept;
    // Counts a sent request. True if it is the scout.
    bool sent(SteadyTime now) noexcept;
    // Records the answer to a sent request. told: the limits that the answer reports, if any. If
    // the scout's answer reports none, requests are not paced any more. Requests still in flight
    // are subtracted from `remaining`. Within one window the number only falls, in whatever order
    // answers come.
    void answered(bool scout, const std::optional<Told>& told, SteadyTime now) noexcept;
    // Counts a sent request to which no answer will come.
    void lost(bool scout) noexcept;

    // Returns the time between two requests while the reported window is open.
    [[nodiscard]] Duration interval(SteadyTime now) const noexcept;

    [[nodiscard]] bool known() const noexcept { return known_; }
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

  private:
    bool known_ = false;
    bool scouting_ = false;
    std::uint64_t in_flight_ = 0;
    std::uint64_t left_ = 0;
    SteadyTime until_{};
    SteadyTime next_{};
};

} // namespace stint::limits
