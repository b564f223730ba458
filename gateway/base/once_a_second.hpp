// Lets one call a second pass: for log lines about events that may come ten thousand times a
// second.
#pragma once

#include "base/time.hpp"

#include <atomic>
#include <chrono>

namespace stint {

// Thread-safe; any thread may ask.
class OnceASecond {
  public:
    // Returns true at the first call, and again when a second has passed since the last true.
    [[nodiscard]] bool pass(SteadyTime now) noexcept {
        const std::int64_t at = now.time_since_epoch().count();
        std::int64_t next = next_.load(std::memory_order_relaxed);
        return at >= next &&
               next_.compare_exchange_strong(
                   next, at + Duration{std::chrono::seconds{1}}.count(), std::memory_order_relaxed);
    }

  private:
    std::atomic<std::int64_t> next_{0};
};

} // namespace stint
