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

// Answers at once, in `to`; or returns the reply that has to wait. owners outlives the reply; head
// and body need not outlive the call.
[[nodiscard]] PendingPtr answer(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    const server::ConnectionInfo& connection,
    LeaseOwners& owners,
    http::Response& to);

} // namespace stint::permits
