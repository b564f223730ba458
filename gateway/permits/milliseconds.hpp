// Times in replies, in whole milliseconds; never negative. Internal to permits/.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stint::permits {

// Rounds up: a client that retries after this time is not early.
[[nodiscard]] inline std::uint64_t milliseconds_up(Duration duration) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_ms(duration), 0));
}

// Rounds down: a client that counts on its own clock stops using its lease or window in time.
[[nodiscard]] inline std::uint64_t milliseconds_down(Duration duration) noexcept {
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(duration);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(whole.count(), 0));
}

} // namespace stint::permits
