// Regular expressions for whole numbers between two bounds, for schemas, which have no bounds for
// texts such as "10s".
#pragma once

#include <cstdint>
#include <string>

namespace stint::config {

// Returns an expression without groups of its own for the decimal numbers from low to high, without
// leading zeros. Requires low <= high.
[[nodiscard]] std::string number_pattern(std::uint64_t low, std::uint64_t high);

} // namespace stint::config
