// Leases as rows of a state file. Pure.
#pragma once

#include "locks/lease.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stint::locks {

[[nodiscard]] std::string row_key(Hash128 id);
[[nodiscard]] std::string row_value(const SavedLease& lease);
// Nothing, if these are not what the two above wrote.
[[nodiscard]] std::optional<SavedLease> read_row(std::string_view key, std::string_view value);

} // namespace stint::locks
