// Leases as rows of the state file. Pure.
#pragma once

#include "locks/lease.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stint::locks {

[[nodiscard]] std::string row_key(Hash128 id);
[[nodiscard]] std::string row_value(const SavedLease& lease);
// Parses a row. Returns nothing unless row_key() and row_value() wrote it.
[[nodiscard]] std::optional<SavedLease> read_row(std::string_view key, std::string_view value);

} // namespace stint::locks
