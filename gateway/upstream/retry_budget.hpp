// Bounds the share of retries among an upstream's requests: if most requests fail, a retry of each
// would multiply the load of a service that is already overloaded.
#pragma once

#include "base/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace stint::upstream {

// Counts over the last ten seconds, second by second. Not thread-safe: one per worker and upstream.
class RetryBudget {
  public:
    // Number of retries a second that are always allowed. Without them a quiet upstream would get
    // none.
    static constexpr std::uint64_t always = 1;

    void note_request(SteadyTime now) noexcept { ++second_of(now).requests; }

    void note_retry(SteadyTime now) noexcept { ++second_of(now).retries; }

    // True if one more retry is within `percent` of the requests, or is among the first `always`
    // retries of this second.
    [[nodiscard]] bool allows(SteadyTime now, unsigned percent) const noexcept;

  private:
    struct Second {
        std::int64_t number = -1; // seconds since the clock's epoch
        std::uint64_t requests = 0;
        std::uint64_t retries = 0;
    };
    static constexpr std::size_t length = 10;

    static std::int64_t number_of(SteadyTime now) noexcept {
        return std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    }
    Second& second_of(SteadyTime now) noexcept;

    std::array<Second, length> seconds_; // each at its number modulo length
};

} // namespace stint::upstream
