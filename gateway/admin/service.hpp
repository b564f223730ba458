// Dispatches a request to the admin listener to its handler.
#pragma once

#include "admin/access.hpp"
#include "admin/config_json.hpp"
#include "admin/message.hpp"
#include "net/types.hpp"
#include "observe/page_series.hpp"
#include "runtime/gateway.hpp"

#include <cstddef>

namespace stint::admin {

// State that all handlers share. Must outlive the requests; the gateway must outlive the Service.
struct Service {
    runtime::Gateway& gateway;
    Policy policy;
    RunningConfig running;
    std::size_t event_streams = 0; // number of open event streams
    observe::PageSeries series{};  // remembers which names have series of their own at /metrics
};

// Answers the request on the control thread. May first wait for the workers' counters. Reads the
// configuration and all other state after that wait, so a reload during the wait is safe.
[[nodiscard]] net::Task<Response> answer(Service& service, Request request);

} // namespace stint::admin
