// The request header fields that limits depend on. Internal to compile.cpp.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// Returns the names of header fields that a client must not remove (by Connection) or imitate:
// fields with keys of limits and cooldowns, costs, fair queueing and reservations, and the header
// in which trusted proxies name the client. Lower case, without duplicates. Cookie and
// Authorization are always protected and not in the list.
[[nodiscard]] std::vector<std::string> protected_fields(const config::Config& config);

} // namespace stint::runtime
