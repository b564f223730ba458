// One request of a client: checks whether it is allowed, and dispatches it by its path.
#pragma once

#include "base/message.hpp"
#include "http/response.hpp"
#include "permits/connection_leases.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"
#include "server/client_stream.hpp"

#include <string_view>

namespace stint::permits {

// Answers at once, in `to`; or returns the reply that has to wait. connection_leases: the leases
// bound to the request's connection. stays: the connection is kept alive. head and body need not
// outlive the call.
[[nodiscard]] PendingPtr answer(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    const server::ConnectionInfo& connection,
    ConnectionLeases& connection_leases,
    bool stays,
    http::Response& to);

} // namespace stint::permits
