// Sending as fast as an upstream says it allows: the remaining requests, spread over the time until
// its reset.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>

namespace stint::limits {

// Pure; not thread-safe. Nothing is paced before the upstream has reported limits. When the
// reported window is over, one request goes to learn the next numbers and the others wait for its
// answer: many at once could be more than the new window takes.
class LearnedPace {
  public:
    struct Told {
        std::uint64_t remaining = 0;
        Duration reset{}; // from now
    };

    // Returns how long the next request has to wait; zero = it may go.
    [[nodiscard]] Duration wait(SteadyTime now) const noexcept;
    // Counts a sent request. Returns whether it is the one to learn from.
    bool sent(SteadyTime now) noexcept;
    // Takes in the answer to a sent request: its report, or nothing, which ends the pacing if this
    // was the one to learn from. Requests under way are not in the report: they are subtracted.
    // Within one window the number only falls, whatever order the answers come in.
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
