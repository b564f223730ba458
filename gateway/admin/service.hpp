// Dispatches a request to its handler.
#pragma once

#include "admin/access.hpp"
#include "admin/config_json.hpp"
#include "admin/message.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

#include <cstddef>

namespace stint::admin {

// State that every handler needs. Outlives the requests; the gateway outlives it.
struct Service {
    runtime::Gateway& gateway;
    Policy policy;
    RunningConfig running;
    std::size_t event_streams = 0; // open now
};

// Answers the request on the control thread. May wait for the workers' counters; what it shows is
// read after that, so a reload in between does no harm.
[[nodiscard]] net::Task<Response> answer(Service& service, Request request);

} // namespace stint::admin
