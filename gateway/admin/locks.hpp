// Who holds which lock, with the ids that end it.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

#include <string_view>

namespace stint::admin {

// In the order of their names; "after" in the query: those behind that one.
[[nodiscard]] Response all_locks(runtime::Gateway& gateway, std::string_view query);
[[nodiscard]] Response one_lock(runtime::Gateway& gateway, std::string_view name);
// Whoever holds it: 204, or 404 where it is no living lease of that lock.
[[nodiscard]] Response
end_lease(runtime::Gateway& gateway, std::string_view lock, std::string_view lease);

} // namespace stint::admin
