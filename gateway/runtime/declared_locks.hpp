// Applies the locks that a configuration declares.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/queue/admission_queue.hpp"
#include "locks/lock_manager.hpp"
#include "runtime/compile.hpp"
#include "runtime/shared_stores.hpp"

namespace stint::runtime {

// Sets the maximum number of holders and of waiters of each declared lock, and the store in which
// gateways share it. The new numbers also apply to waiters that are already queued.
void declare_locks(
    const config::Config& config,
    const Compiled& compiled,
    const SharedStores& stores,
    locks::LockManager& locks,
    limits::AdmissionQueue& queue);

} // namespace stint::runtime
