// What /v1/check cannot say of a configuration's routes.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// One line for a person for each limit of a route that /v1/check does not charge
// (permits/check.hpp); none where permits are not given.
[[nodiscard]] std::vector<std::string> check_warnings(const config::Config& config);

} // namespace stint::runtime
