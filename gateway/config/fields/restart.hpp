// Settings that a reload does not apply.
#pragma once

#include "config/schema/schema.hpp"

#include <string_view>
#include <vector>

namespace stint::config {

// Returns the keys of the top level whose new values need a restart.
[[nodiscard]] std::vector<std::string_view> need_restart(const Config& former, const Config& next);

} // namespace stint::config
