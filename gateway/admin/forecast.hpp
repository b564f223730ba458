// GET /limits/NAME/forecast: how many of the requests that a limit admitted in its last complete
// windows another number would refuse.
#pragma once

#include "admin/message.hpp"
#include "limits/forecast/forecast.hpp"
#include "net/types.hpp"
#include "routing/key_rules.hpp"
#include "runtime/gateway.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::admin {

// A limit in another configuration than the one in force.
struct OtherLimit {
    limits::ForecastTerms terms;
    routing::KeyRulesPtr rules; // nullptr: none
    // True: each request has the cost of the terms, is counted for good, and is either admitted or
    // refused at once, by this gateway alone.
    bool plain = false;
};

// Returns the terms of a limit in force, or of another configuration that was compiled.
[[nodiscard]] OtherLimit
forecast_limit(const config::Limit& settings, const runtime::ConfiguredLimit& limit);

// Returns the forecast for the limit in force of this name, with `most` keys at most; without keys
// if the limit has none. Waits for the workers, which know the texts of keys and the last requests.
// Requires: there is such a limit.
[[nodiscard]] net::Task<Json>
forecast_json(runtime::Gateway& gateway, std::string name, OtherLimit other, std::size_t most);

// Answers GET /limits/NAME/forecast. The query parameters: requests or, for a cap, concurrent (the
// other number), burst (of a token bucket) and n (the number of keys, 1 to 256, by default 50).
[[nodiscard]] net::Task<Response>
forecast_of_limit(runtime::Gateway& gateway, std::string name, std::string query);

} // namespace stint::admin
