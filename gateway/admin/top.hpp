// GET /limits/NAME/top: the keys of a limit with the most requests or refusals.
#pragma once

#include "admin/message.hpp"
#include "limits/top_keys/heavy_hitters.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

#include <string>

namespace stint::admin {

[[nodiscard]] Json top_json(const limits::HeavyHitters::Top& top, const Now& now);

// Answers GET /limits/NAME/top. The query parameter n is the number of keys, 1 to 256, by default
// 50; by is the count that ranks them: requests (the default), refused or would_refuse. Waits for
// the workers.
[[nodiscard]] net::Task<Response>
top_of_limit(runtime::Gateway& gateway, std::string name, std::string query);

} // namespace stint::admin
