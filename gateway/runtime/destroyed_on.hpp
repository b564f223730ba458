// Chooses the thread that destroys a snapshot.
#pragma once

#include "net/types.hpp"
#include "routing/snapshot.hpp"

namespace stint::runtime {

// Returns a pointer to the same snapshot. When the last copy of this pointer is destroyed, on any
// thread, the executor destroys the snapshot. With 20,000 routes that takes some 20 ms; if a worker
// did it, all its connections would wait for that time. The executor's context must outlive all
// copies. snapshot: the only pointer to it.
[[nodiscard]] routing::SnapshotPtr
destroyed_on(net::Executor executor, routing::SnapshotPtr snapshot);

} // namespace stint::runtime
