// Judges an endpoint's health by the results of its active checks. Does no I/O.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <cstdint>

namespace stint::upstream {

// Numbers of equal results in a row that change an endpoint's health.
struct HealthRules {
    std::uint32_t healthy_after = 1;
    std::uint32_t unhealthy_after = 1;

    friend bool operator==(const HealthRules&, const HealthRules&) = default;
};

class HealthRecord {
  public:
    explicit HealthRecord(bool healthy = true) noexcept : healthy_{healthy} {}

    [[nodiscard]] bool healthy() const noexcept { return healthy_; }

    // Notes one more result. Returns true if healthy() has changed.
    bool note(bool passed, const HealthRules& rules) noexcept {
        if (passed == healthy_) {
            against_ = 0;
            return false;
        }
        if (++against_ < (healthy_ ? rules.unhealthy_after : rules.healthy_after))
            return false;
        healthy_ = passed;
        against_ = 0;
        return true;
    }

  private:
    bool healthy_;
    std::uint32_t against_ = 0; // results in a row that contradict healthy_
};

// Returns the start of the check after one that began and ended at these times: an interval after
// `began`, but not before `ended`, so that checks never overlap.
[[nodiscard]] constexpr SteadyTime
next_check_at(SteadyTime began, SteadyTime ended, Duration interval) noexcept {
    return std::max(began + interval, ended);
}

} // namespace stint::upstream
