// Warnings about what /v1/check, POST /explain and stint simulate leave out of a configuration.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// Returns one line for a person for each of admission::differences that concerns the configuration,
// with what it concerns and the reason. Those of /v1/check only with permits.
[[nodiscard]] std::vector<std::string> check_warnings(const config::Config& config);

} // namespace stint::runtime
