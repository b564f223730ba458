// Bounds of a configuration's values that others than its readers know.
#pragma once

#include <cstddef>

namespace stint::config {

inline constexpr std::size_t most_key_sources = 8;                 // in a limit's key
inline constexpr std::size_t most_route_limits = 16;               // limits that a route names
inline constexpr std::size_t smallest_head = 1024;                 // bytes: max_head, max_target
inline constexpr std::size_t largest_head = 64 * 1024;             // bytes: max_head, max_target
inline constexpr std::size_t largest_body = std::size_t{1} << 40U; // bytes: max_body
inline constexpr std::size_t longest_answer = 64 * 1024;           // bytes: body of `respond`

} // namespace stint::config
