// The request fields that limits depend on. Internal to compile.cpp.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// Returns the fields that keys, costs, fair queueing, slots and pauses are read from, and the one
// that names the client behind a trusted peer: lower case, each once. Cookie and Authorization are
// protected anyway.
[[nodiscard]] std::vector<std::string> protected_fields(const config::Config& config);

} // namespace stint::runtime
