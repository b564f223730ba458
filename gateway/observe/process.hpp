// Kernel statistics of this process (Linux, /proc/self).
#pragma once

#include <cstdint>
#include <optional>

namespace stint::observe {

struct ProcessUsage {
    double cpu_seconds = 0; // user and system
    std::optional<std::uint64_t> resident_bytes;
    std::optional<std::uint64_t> open_files;
    std::optional<std::uint64_t> open_files_limit; // nullopt = unlimited, or not readable
};

// Reads the statistics; members that cannot be read are nullopt or 0. Lists /proc/self/fd to count
// open files.
[[nodiscard]] ProcessUsage read_process_usage();

} // namespace stint::observe
