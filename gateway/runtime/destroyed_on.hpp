// Chooses the thread that destroys a snapshot.
#pragma once

#include "net/types.hpp"
#include "routing/snapshot.hpp"

namespace stint::runtime {

// Returns a pointer to the snapshot. The last holder of the pointer, on whatever thread, hands the
// snapshot to the executor, which destroys it: that takes some 20 ms with 20,000 routes, for which
// a worker's connections would wait. The executor's context must outlive all holders. snapshot: has
// no other holder.
[[nodiscard]] routing::SnapshotPtr
destroyed_on(net::Executor executor, routing::SnapshotPtr snapshot);

} // namespace stint::runtime
