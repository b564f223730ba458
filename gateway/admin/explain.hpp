// POST /explain: previews the decision on a request, with reasons. Charges no limit and changes no
// state.
#pragma once

#include "admin/message.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"
#include "runtime/synthetic_request.hpp"

#include <string>
#include <string_view>

namespace stint::admin {

// Parses the description of a request: {"method": "GET", "host": "shop.example", "path": "/a?b=1",
// "client_ip": "192.0.2.1", "tls_subject": "CN=robot", "headers": {"X-Key": "k"}}. All members are
// optional. The error is a response with status 400 that names the fault.
[[nodiscard]] Result<runtime::SyntheticRequest, Response> described_in(std::string_view body);

// Answers POST /explain. The body describes a request, or names a recent one: {"request_id":
// "..."}. A recent request is looked up in the workers, for which the coroutine waits.
[[nodiscard]] net::Task<Response> explain(runtime::Gateway& gateway, std::string body);

} // namespace stint::admin
