// Kernel statistics of this process (Linux, /proc/self).
#pragma once

#include <cstdint>
#include <optional>

namespace stint::observe {

struct ProcessUsage {
    double cpu_seconds = 0; // user and system
    std::optional<std::uint64_t> resident_bytes;
    std::optional<std::uint64_t> open_files;
    std::optional<std::uint64_t> open_files_limit; // none = unlimited
};

// Reads the statistics, without those that cannot be read. Costs a directory listing of the open
// files.
[[nodiscard]] ProcessUsage read_process_usage();

} // namespace stint::observe
