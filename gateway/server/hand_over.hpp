// Hands HTTP/1 connections over to the process that replaces this one, and goes on with those of
// the process before.
#pragma once

#include "base/time.hpp"
#include "net/types.hpp"

#include <optional>
#include <string>

namespace stint::server {

class Http1Connection;

// Hands the connection over, with the bytes that it has received and not answered. A connection
// with TLS stays, and its bytes are relayed until one side ends. Requires: Totals::successor is
// set, and no request of the connection has a handler.
[[nodiscard]] net::Task<> hand_over(Http1Connection& connection);
// Does the same with a request that was begun, and what came behind it, in place of the bytes
// received. since: when the request began to wait. Without the request (nothing) the client gets a
// 503, and false is returned.
[[nodiscard]] net::Task<bool>
hand_over(Http1Connection& connection, std::optional<std::string> request, SteadyTime since);

// True if the connection can be handed over between two requests. Otherwise it ends, as in a drain:
// a lease hangs on it, or it speaks TLS and no request has come.
[[nodiscard]] bool can_be_handed_over(Http1Connection& connection);

// True if the connection may carry another request after the response, here or in another process.
[[nodiscard]] bool stays_open(Http1Connection& connection);

} // namespace stint::server
