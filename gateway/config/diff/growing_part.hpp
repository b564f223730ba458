// The longest increasing subsequence.
#pragma once

#include <cstddef>
#include <vector>

namespace stint::config {

// Returns an element for each number: true for those of a longest subsequence that only grows.
// numbers: all different. O(n log n).
[[nodiscard]] std::vector<bool> longest_growing_part(const std::vector<std::size_t>& numbers);

} // namespace stint::config
