// Locks and their holders as JSON, for clients and for the admin listener.
#pragma once

#include "locks/listing.hpp"

#include <string>
#include <vector>

namespace stint::permits {

// Controls whether the JSON contains lease ids. Only the operator sees them: any client that knows
// a lease's id may release the lease.
enum class Ids : bool { hidden, shown };

[[nodiscard]] std::string to_json(const locks::LockState& lock, Ids ids);
[[nodiscard]] std::string to_json(const locks::LockList& list, Ids ids);

} // namespace stint::permits
