// What processes have used of the cores, by the scheduler's accounting: in total exact to the
// nanosecond, where /proc/PID/stat counts ticks.
#pragma once

#include <vector>

namespace stint::bench {

// Seconds that all threads of the processes have run so far.
[[nodiscard]] double cpu_seconds(const std::vector<int>& processes);

// Seconds that the cores have been idle so far, sampled by the tick.
[[nodiscard]] double idle_seconds(const std::vector<int>& cores);

} // namespace stint::bench
