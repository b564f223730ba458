// The lowest average rate at which a peer may send.
#pragma once

#include "base/time.hpp"

#include <chrono>
#include <cstdint>

namespace stint {

struct MinRate {
    std::uint64_t bytes = 0; // per second, at most 2^30; 0: no minimum
    Duration after{};        // the rate is checked only after this time

    // Returns true if `sent` bytes in `elapsed` are below the lowest rate.
    [[nodiscard]] constexpr bool missed_by(std::uint64_t sent, Duration elapsed) const noexcept {
        if (bytes == 0 || elapsed < after)
            return false;
        // Rounds down, in the sender's favour. Multiplies whole seconds and the rest
        // separately, so that the products do not overflow.
        const auto ms = static_cast<std::uint64_t>(elapsed / std::chrono::milliseconds{1});
        return sent < bytes * (ms / 1000) + bytes * (ms % 1000) / 1000;
    }
};

} // namespace stint
