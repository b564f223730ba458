// POST /explain: how a request would be decided, and why. Changes nothing and counts nothing.
#pragma once

#include "admin/message.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"
#include "runtime/synthetic_request.hpp"

#include <string>
#include <string_view>

namespace stint::admin {

// {"method": "GET", "host": "shop.example", "path": "/a?b=1", "client_ip": "192.0.2.1",
// "tls_subject": "CN=robot", "headers": {"X-Key": "k"}}: all optional. The error is the response:
// 400 with what is wrong.
[[nodiscard]] Result<runtime::SyntheticRequest, Response> described_in(std::string_view body);

// {"request_id": "..."} alone explains a recent request; waits for the workers.
[[nodiscard]] net::Task<Response> explain(runtime::Gateway& gateway, std::string body);

} // namespace stint::admin
