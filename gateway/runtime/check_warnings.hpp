// Warnings about the parts of a configuration that /v1/check, POST /explain and stint simulate do
// not evaluate.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// Returns a human-readable line for each entry of admission::differences that affects this
// configuration. The line names the affected routes, limits or listeners, and the reason. Entries
// for /v1/check are skipped if no permits listener is configured.
[[nodiscard]] std::vector<std::string> check_warnings(const config::Config& config);

} // namespace stint::runtime
