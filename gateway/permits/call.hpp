// One request of a caller: who may ask, what is asked for, who answers it.
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

// Answers at once, appending the whole response to `out`; or returns what the answer has to wait
// for. ties: of the connection it came on. head and body need not stay.
[[nodiscard]] PendingPtr answer(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    const routing::ClientAddress& peer,
    ConnectionLeases& connection_leases,
    http::HeadBuffer& out,
    http::ReplyContext reply);

} // namespace stint::permits
