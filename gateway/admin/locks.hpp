// Locks and their holders, with the lease ids that end them.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

#include <string_view>

namespace stint::admin {

// Lists locks ordered by name. With "after" in the query the list begins behind that name.
[[nodiscard]] Response all_locks(runtime::Gateway& gateway, std::string_view query);
[[nodiscard]] Response one_lock(runtime::Gateway& gateway, std::string_view name);
// Ends the lease, whoever holds it: 204, or 404 where the lock has no such live lease.
[[nodiscard]] Response
end_lease(runtime::Gateway& gateway, std::string_view lock, std::string_view lease);

} // namespace stint::admin
