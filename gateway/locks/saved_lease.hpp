// Leases as rows of a state file. Pure.
#pragma once

#include "locks/lease.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stint::locks {

[[nodiscard]] std::string row_key(Hash128 id);
[[nodiscard]] std::string row_value(const SavedLease& lease);
// Parses a row. Nothing if the two functions above did not write it.
[[nodiscard]] std::optional<SavedLease> read_row(std::string_view key, std::string_view value);

} // namespace stint::locks
