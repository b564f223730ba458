// Leases as their grants tell them, and the ends of leases. Internal to locks/.
#pragma once

#include "base/time.hpp"
#include "locks/lease.hpp"

#include <memory>

namespace stint::locks {

[[nodiscard]] Grant grant_of(const Lease& lease);
// Frees the ended lease's slot, which wakes waiters for it. Call without LockManager's mutex.
void free_slot(std::unique_ptr<Lease> ended, const Now& now) noexcept;

} // namespace stint::locks
