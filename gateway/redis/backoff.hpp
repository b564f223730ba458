// The pause before the next attempt to connect: doubles with each failure, with full jitter, so
// that many gateways do not come back to a server at once.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>

namespace stint::redis {

// Pure.
class Backoff {
  public:
    // first: the longest pause after one failure. longest: of all pauses.
    Backoff(Duration first, Duration longest) noexcept : first_{first}, longest_{longest} {}

    // Counts a failure, and returns the pause: a part of the present bound, chosen by `random`,
    // which is uniform over all its values.
    [[nodiscard]] Duration next(std::uint32_t random) noexcept {
        const int doublings = std::min(failures_, 30);
        failures_ += failures_ < INT_MAX ? 1 : 0;
        const Duration bound =
            longest_ / (1 << doublings) < first_ ? longest_ : first_ * (1 << doublings);
        const double part = static_cast<double>(random) / 4294967296.0;
        return Duration{static_cast<Duration::rep>(static_cast<double>(bound.count()) * part)};
    }

    void reset() noexcept { failures_ = 0; }
    [[nodiscard]] int failures() const noexcept { return failures_; }

  private:
    Duration first_;
    Duration longest_;
    int failures_ = 0; // in a row
};

} // namespace stint::redis
