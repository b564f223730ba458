// What the process asks of its operating system, once at start.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace stint::runtime {

// Descriptors 0 to 2 that the parent left closed are opened on /dev/null: otherwise the first
// socket would become the standard output, and the access log would write into it.
void open_standard_streams() noexcept;

// Writing to a closed pipe or socket, or beyond the limit on a file's size (ulimit -f), is an error
// code, not the end.
void ignore_broken_pipes() noexcept;

// Raises the soft limit on open files to the hard one (init systems and container engines leave it
// at 1,024), and says in the log what is missing where `max_connections` needs more: two a
// connection, and some.
void raise_open_files_limit(std::size_t max_connections);

// The numbers of the cores that the process may use (taskset, cpusets), ascending; never empty.
[[nodiscard]] std::vector<int> usable_cores();

// Keeps a thread on one core, and says in the log where the operating system refuses.
void pin(std::thread& thread, int core);

} // namespace stint::runtime
