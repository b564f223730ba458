// Requests about locks: their holders, and acquiring, renewing and releasing a lease.
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

// Answers as answer() does. connection_leases: those of the request's connection.
[[nodiscard]] PendingPtr answer_lock(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    ConnectionLeases& connection_leases,
    http::HeadBuffer& out,
    const http::ReplyContext& reply);

} // namespace stint::permits
