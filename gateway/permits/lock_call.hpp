// Requests about locks: who holds them, and getting, keeping and giving back a lease.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "permits/connection_leases.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"

#include <string_view>

namespace stint::permits {

[[nodiscard]] bool is_about_locks(std::string_view path) noexcept;

// As answer(). ties: of the connection it came on.
[[nodiscard]] PendingPtr answer_lock(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    ConnectionLeases& connection_leases,
    http::HeadBuffer& out,
    const http::ReplyContext& reply);

} // namespace stint::permits
