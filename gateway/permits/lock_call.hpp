// Requests about locks: their holders, and acquiring, renewing and releasing a lease.
#pragma once

#include "base/message.hpp"
#include "http/response.hpp"
#include "permits/connection_leases.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"

#include <string_view>

namespace stint::permits {

[[nodiscard]] bool is_about_locks(std::string_view path) noexcept;

// Answers a request about locks in `to`, or returns the reply that has to wait. connection_leases:
// the leases bound to the request's connection. stays: the connection is kept alive. head and body
// need not outlive the call.
[[nodiscard]] PendingPtr answer_lock(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    ConnectionLeases& connection_leases,
    bool stays,
    http::Response& to);

} // namespace stint::permits
