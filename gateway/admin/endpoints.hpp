// Admin API for endpoints of upstreams: settings, live state, drain and enable.
#pragma once

#include "admin/message.hpp"
#include "base/time.hpp"
#include "config/schema/schema.hpp"
#include "observe/metrics.hpp"
#include "routing/snapshot.hpp"
#include "runtime/gateway.hpp"

#include <string>

namespace stint::admin {

// Adds the number of queued requests (`waiting`) and the endpoints to each entry of `upstreams`,
// the result of upstreams_status_json(). An endpoint has weight, state (up, unhealthy, ejected,
// drained), requests_in_flight, failures_in_a_row, failures and ejections; max_requests,
// ejected_for_ms, last_failure and last_check are present only if they have a value. snapshot:
// compiled from the same configuration as `upstreams`. counters: the sum of all workers'.
void add_endpoint_states(
    Json& upstreams,
    const routing::Snapshot& snapshot,
    const observe::WorkerCounters& counters,
    SteadyTime now);

// Handles POST /upstreams/NAME/endpoints/ENDPOINT/drain and …/enable.
[[nodiscard]] Response set_drained(
    runtime::Gateway& gateway,
    const std::string& upstream,
    const std::string& endpoint,
    bool drained,
    const runtime::Attribution& by);

} // namespace stint::admin
