// Times of the steady and of the wall clock, as values. Only net/ and runtime/ read a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace stint {

using Duration = std::chrono::nanoseconds;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

// One instant on both clocks. Lengths are measured on `steady`. `wall` only places windows that
// follow the wall clock, and stamps logs, leases and files.
struct Now {
    SteadyTime steady{};
    WallTime wall{};
};

// Returns whole milliseconds, rounded up: the time that a client must wait is never understated.
[[nodiscard]] constexpr std::int64_t ceil_ms(Duration duration) noexcept {
    return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

// Returns whole seconds, rounded up, at least 1: the Retry-After of a refusal (RFC 9110 section
// 10.2.3).
[[nodiscard]] constexpr std::int64_t retry_after_seconds(Duration duration) noexcept {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
    return seconds < 1 ? 1 : seconds;
}

} // namespace stint
