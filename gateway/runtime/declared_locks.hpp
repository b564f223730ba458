// Applies the locks that a configuration declares.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/queue/admission_queue.hpp"
#include "locks/lock_manager.hpp"
#include "runtime/compile.hpp"

namespace stint::runtime {

// Sets the maximum number of holders and of waiters of each declared lock. The new numbers also
// apply to waiters that are already queued.
void declare_locks(
    const config::Config& config,
    const Compiled& compiled,
    locks::LockManager& locks,
    limits::AdmissionQueue& queue);

} // namespace stint::runtime
