// POST /explain of a request that was seen lately, by its X-Request-Id.
#pragma once

#include "admin/message.hpp"
#include "net/types.hpp"
#include "proxy/recent_requests.hpp"
#include "runtime/gateway.hpp"

#include <string>

namespace stint::admin {

// Returns what the limits decided then, and what is left of them now.
[[nodiscard]] Json recent_json(
    const runtime::Gateway& gateway, const proxy::RecentRequests::Record& record, const Now& now);

// May wait for the workers. 404 if no worker remembers the request.
[[nodiscard]] net::Task<Response> explain_recent(runtime::Gateway& gateway, std::string request_id);

} // namespace stint::admin
