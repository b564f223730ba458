// The locks that a configuration declares.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/queue/admission_queue.hpp"
#include "locks/lock_manager.hpp"
#include "runtime/compile.hpp"

namespace stint::runtime {

// Gives each lock its number of holders and of waiters. Waiters that are queued already get the new
// numbers, too.
void declare_locks(
    const config::Config& config,
    const Compiled& compiled,
    locks::LockManager& locks,
    limits::AdmissionQueue& queue);

} // namespace stint::runtime
