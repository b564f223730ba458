// The share of retries that an upstream may be burdened with: where most requests fail, retrying
// each of them would multiply the load of a service that has too much of it.
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
    // Retries that are always allowed a second: without them a quiet upstream would get none.
    static constexpr std::uint64_t always = 1;

    void note_request(SteadyTime now) noexcept { ++second_of(now).requests; }

    void note_retry(SteadyTime now) noexcept { ++second_of(now).retries; }

    // True if another retry keeps retries within `percent` of the requests.
    [[nodiscard]] bool allows(SteadyTime now, unsigned percent) const noexcept;

  private:
    struct Second {
        std::int64_t number = -1; // the clock's second
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
