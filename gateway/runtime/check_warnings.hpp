// Warnings about limits of a configuration's routes that /v1/check does not cover.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// Returns one line for a person for each limit of a route that /v1/check does not charge
// (permits/check.hpp); none if permits are disabled.
[[nodiscard]] std::vector<std::string> check_warnings(const config::Config& config);

} // namespace stint::runtime
