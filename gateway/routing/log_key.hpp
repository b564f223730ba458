// How the access log shows the key of the limit that refused a request.
#pragma once

#include "base/log_rules.hpp"
#include "routing/key_template.hpp"

#include <string>

namespace stint::routing {

// Returns the text to log; empty if the key is missing, or with LogKey::off.
[[nodiscard]] std::string logged(const Key& key, LogKey as);

} // namespace stint::routing
