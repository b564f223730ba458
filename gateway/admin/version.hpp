// Returns the body of GET /version.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

namespace stint::admin {

[[nodiscard]] Json version_json(runtime::Gateway& gateway);

} // namespace stint::admin
