// Warnings about what /v1/check, POST /explain and stint simulate leave out of a configuration.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// Returns a line for a person for each of admission::differences that concerns the configuration:
// what it concerns, and why. Differences of /v1/check are left out without permits.
[[nodiscard]] std::vector<std::string> check_warnings(const config::Config& config);

} // namespace stint::runtime
