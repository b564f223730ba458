// POST /explain for a recent request, found by its X-Request-Id.
#pragma once

#include "admin/message.hpp"
#include "net/types.hpp"
#include "proxy/recent_requests.hpp"
#include "runtime/gateway.hpp"

#include <string>
#include <string_view>

namespace stint::admin {

// Returns "admit", "refuse" or "deny".
[[nodiscard]] std::string_view to_text(proxy::RecentRequests::Kind kind);

// Returns the decisions of the limits on the recorded request, and the present remaining quota of
// each limit.
[[nodiscard]] Json recent_json(
    const runtime::Gateway& gateway, const proxy::RecentRequests::Record& record, const Now& now);

// Answers POST /explain for a request id, with 404 if no worker has a record of the request. Waits
// for the workers.
[[nodiscard]] net::Task<Response> explain_recent(runtime::Gateway& gateway, std::string request_id);

} // namespace stint::admin
