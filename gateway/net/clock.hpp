// Reads the system's clocks. Decisions get the time as an argument, and read no clock.
#pragma once

#include "base/time.hpp"

namespace stint::net {

// Reads both clocks, one right after the other.
[[nodiscard]] Now read_clocks() noexcept;

// Reads the monotonic clock alone.
[[nodiscard]] SteadyTime read_steady_clock() noexcept;

// Reads the monotonic clock as of the kernel's last tick (1 to 10 ms old): for deadlines, at a
// fraction of the price.
[[nodiscard]] SteadyTime read_coarse_clock() noexcept;

} // namespace stint::net
