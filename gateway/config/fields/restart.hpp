// Finds changed settings that a reload does not apply.
#pragma once

#include "config/schema/schema.hpp"

#include <string_view>
#include <vector>

namespace stint::config {

// Returns the top-level keys whose values differ and take effect only with a restart.
[[nodiscard]] std::vector<std::string_view> need_restart(const Config& former, const Config& next);

} // namespace stint::config
