// Admin API for locks: lists locks and their leases, and ends leases by id.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

#include <string_view>

namespace stint::admin {

// Lists locks ordered by name. The query parameter "after" gives the name behind which the list
// begins.
[[nodiscard]] Response all_locks(runtime::Gateway& gateway, std::string_view query);
[[nodiscard]] Response one_lock(runtime::Gateway& gateway, std::string_view name);
// Ends a lease by force. Returns 204, or 404 if the lock has no live lease with this id.
[[nodiscard]] Response end_lease(
    runtime::Gateway& gateway,
    std::string_view lock,
    std::string_view lease,
    const runtime::Attribution& by);

} // namespace stint::admin
