// Operating-system settings of the process, which are made or read once at start.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stint::runtime {

// Opens /dev/null as each of the descriptors 0 to 2 that the parent process left closed. Otherwise
// the first socket could become the standard output, and the access log would write into it.
void open_standard_streams() noexcept;

// Returns the value of an environment variable of the process; nullopt if it is not set.
[[nodiscard]] std::optional<std::string> environment_variable(std::string_view name);

// Returns the file of the running program. Call it at the start: the file may be replaced later,
// and is then the one to start in an upgrade.
[[nodiscard]] std::string executable_file();

// Blocks SIGHUP, SIGUSR1 and SIGUSR2, which would end the process, until deliver_held_signals().
// Call it first of all, because these signals may arrive right after the start.
void hold_signals() noexcept;
// Unblocks SIGHUP, SIGUSR1 and SIGUSR2 for the calling thread, which also gets those that arrived
// before.
void deliver_held_signals() noexcept;

// Ignores signals that would end the process without need: a write to a closed pipe or beyond the
// file size limit (ulimit -f) then fails with an error code, and signals of timers and real-time
// signals have no effect. Call it before threads are started.
void ignore_signals() noexcept;

// Raises the soft limit on open files (RLIMIT_NOFILE) to the hard limit; init systems often leave
// it at 1,024. Logs a warning if the limit stays below the need: two files per connection and 256
// others.
void raise_open_files_limit(std::size_t max_connections);

// Returns the memory that the process has freed to the system. May take some milliseconds, during
// which no thread can allocate memory.
void return_free_memory() noexcept;

// Returns the numbers of the cores that the process may use (taskset, cpusets), ascending; never
// empty.
[[nodiscard]] std::vector<int> usable_cores();

// Pins a thread to one core; logs a refusal of the operating system.
void pin(std::thread& thread, int core);

} // namespace stint::runtime
