// GET /limits/NAME/forecast: how many of the requests that a limit admitted in its last complete
// windows another number would refuse.
#pragma once

#include "admin/forecast_terms.hpp"
#include "admin/message.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::admin {

// Returns the forecast for the limit in force of this name, with `most` keys at most; without keys
// if the limit has none. Waits for the workers, which know the texts of keys and the last requests.
// Requires: there is such a limit.
[[nodiscard]] net::Task<Json>
forecast_json(runtime::Gateway& gateway, std::string name, ForecastLimit other, std::size_t most);

// Answers GET /limits/NAME/forecast. The query parameters: requests or, for a cap, concurrent (the
// other number), burst (of a token bucket) and n (the number of keys, 1 to 256, by default 50);
// others get 400.
[[nodiscard]] net::Task<Response>
forecast_of_limit(runtime::Gateway& gateway, std::string name, std::string query);

} // namespace stint::admin
