// Formats durations and sizes as a configuration file states them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace stint::config {

[[nodiscard]] std::string length_text(std::uint64_t ms);                  // such as 90s, 24h, 366d
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds length); // exact, such as 1.5ms
[[nodiscard]] std::string size_text(std::uint64_t bytes);                 // such as 0, 64B, 16KiB

} // namespace stint::config
