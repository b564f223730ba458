// One request of a caller: checks whether it is allowed, and dispatches it to its handler.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "permits/connection_leases.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"
#include "routing/client_address.hpp"

#include <string_view>

namespace stint::permits {

// Answers at once, appending the whole response to `out`; or returns the reply that has to wait.
// connection_leases: those of the request's connection. head and body need not outlive the call.
[[nodiscard]] PendingPtr answer(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    const routing::ClientAddress& peer,
    ConnectionLeases& connection_leases,
    http::HeadBuffer& out,
    http::ReplyContext reply);

} // namespace stint::permits
