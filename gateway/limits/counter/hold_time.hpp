// The mean time for which a cap's slots are held, from which Retry-After is estimated.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace stint::limits {

// Threads: any.
class HoldTime {
  public:
    // Moves the mean by an eighth towards `held`. Relaxed on purpose: a sample lost between two
    // threads does an average no harm.
    void learn(Duration held) noexcept {
        const std::int64_t sample = std::max<std::int64_t>(held.count(), 1);
        const std::int64_t mean = mean_.load(std::memory_order_relaxed);
        const std::int64_t next = mean == 0 ? sample : mean + (sample - mean) / 8;
        mean_.store(next, std::memory_order_relaxed);
    }
    // Returns the estimated time until one of `quota` taken slots is freed.
    [[nodiscard]] Duration estimate(std::uint64_t quota) const noexcept {
        using namespace std::chrono_literals;
        const std::int64_t mean = mean_.load(std::memory_order_relaxed);
        if (mean == 0)
            return 1s;
        const auto share = static_cast<std::uint64_t>(mean) / std::max<std::uint64_t>(quota, 1);
        return std::max<Duration>(Duration{static_cast<std::int64_t>(share)}, 1ms);
    }

  private:
    std::atomic<std::int64_t> mean_{0}; // ns, moving average; 0 = no sample yet
};

} // namespace stint::limits
