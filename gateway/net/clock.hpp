// Where a worker reads its clocks; decisions get the result as an argument.
#pragma once

#include "base/time.hpp"

namespace stint::net {

// Both clocks, one right after the other.
[[nodiscard]] Now read_clocks() noexcept;

// The monotonic clock alone.
[[nodiscard]] SteadyTime read_steady_clock() noexcept;

// The monotonic clock as of the kernel's last tick (1 to 10 ms old): for deadlines, at a fraction
// of the price.
[[nodiscard]] SteadyTime read_coarse_clock() noexcept;

} // namespace stint::net
