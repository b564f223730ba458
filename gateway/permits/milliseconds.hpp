// Times in replies, in whole milliseconds; never negative. Internal to permits/.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stint::permits {

// Rounds up: a caller that comes back after so long is not early.
[[nodiscard]] inline std::uint64_t milliseconds_up(Duration duration) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_ms(duration), 0));
}

// Rounds down: a holder that counts from its own clock does not believe in its lease, or in its
// window, for too long.
[[nodiscard]] inline std::uint64_t milliseconds_down(Duration duration) noexcept {
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(duration);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(whole.count(), 0));
}

} // namespace stint::permits
