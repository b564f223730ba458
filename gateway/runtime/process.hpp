// What the process asks of its operating system, once at start.
#pragma once

#include <cstddef>

namespace stint::runtime {

// Descriptors 0 to 2 that the parent left closed are opened on /dev/null: otherwise the first
// socket would become the standard output, and the access log would write into it.
void open_standard_streams() noexcept;

// Writing to a closed pipe or socket is an error code, not the end.
void ignore_broken_pipes() noexcept;

// Raises the soft limit on open files to what `max_connections` needs (two a connection, and some),
// as far as the hard limit allows; says in the log what is missing.
void raise_open_files_limit(std::size_t max_connections);

} // namespace stint::runtime
