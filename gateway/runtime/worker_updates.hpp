// The updates that workers adopt: a configuration, or changed limits.
#pragma once

#include "observe/metrics.hpp"
#include "runtime/config_store.hpp"
#include "runtime/listener_set.hpp"
#include "runtime/worker.hpp"
#include "runtime/worker_pool.hpp"

#include <cstddef>
#include <vector>

namespace stint::runtime {

[[nodiscard]] SlotCounts counts_of(const observe::MetricSlots& slots);

// Returns the update of one worker: the snapshot, all listeners, and the worker's own sockets,
// which are moved out of `opened`. worker: the worker's index, of `workers`. slots: the metric
// slots that the snapshot refers to.
[[nodiscard]] WorkerUpdate update_for(
    std::size_t worker,
    std::size_t workers,
    const LoadedConfig& loaded,
    const Compiled& compiled,
    const observe::MetricSlots& slots,
    ListenerSet::Opened& opened);

// Makes every worker update the queues of these limits to their present quota and burst. Call it
// after the workers were told to adopt the limits: then no worker enqueues a request with the
// former numbers afterwards.
void renumber_queues(WorkerPool& pool, std::vector<ConfiguredLimit> limits);

} // namespace stint::runtime
