// The forecast of POST /config/reload?dry_run=true: how many of the requests that the limits in
// force have counted lately the next configuration would refuse.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

namespace stint::admin {

// Returns an object with a member for each limit of both configurations, by its name, whose
// decisions differ: its numbers, overrides, cost, pace, window, algorithm or key. Limits that only
// one of them has, and locks, are left out. next: outlives the task. Waits for the workers.
[[nodiscard]] net::Task<Json>
forecast_of_reload(runtime::Gateway& gateway, const config::Config& next);

} // namespace stint::admin
