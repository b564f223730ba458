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

// Answers a request about locks in `to`, or returns the reply that has to wait. owners outlives
// the reply; head and body need not outlive the call.
[[nodiscard]] PendingPtr answer_lock(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    LeaseOwners& owners,
    http::Response& to);

} // namespace stint::permits
