// The update that a worker adopts when a configuration comes into force.
#pragma once

#include "observe/metrics.hpp"
#include "runtime/config_store.hpp"
#include "runtime/listener_set.hpp"
#include "runtime/worker.hpp"

#include <cstddef>

namespace stint::runtime {

// Returns the update of one worker: the snapshot, all listeners, and the worker's own sockets,
// which are moved out of `opened`. worker: the worker's index. slots: the metric slots that the
// snapshot refers to.
[[nodiscard]] WorkerUpdate update_for(
    std::size_t worker,
    const LoadedConfig& loaded,
    const Compiled& compiled,
    const observe::MetricSlots& slots,
    ListenerSet::Opened& opened);

} // namespace stint::runtime
