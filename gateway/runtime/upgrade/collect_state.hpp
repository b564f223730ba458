// Collects the state of a process for the one that replaces it.
#pragma once

#include "base/error.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"
#include "permits/reported_cooldowns.hpp"
#include "runtime/config_store.hpp"
#include "runtime/persistence.hpp"
#include "runtime/runtime_overlay.hpp"
#include "runtime/upgrade/messages.hpp"

#include <string>

namespace stint::runtime {

// Collects the state. Requires: nothing is decided meanwhile. persistence: null without a state
// file, else finished. The error is one human-readable line: some state cannot be handed over.
[[nodiscard]] Result<HandedState, std::string> collect_state(
    const limits::Registry& registry,
    const permits::ReportedCooldowns& reported,
    locks::LockManager& locks,
    const RuntimeOverlay& overlay,
    const ConfigStore& store,
    const Persistence* persistence);

// Returns why a process cannot be replaced that has this configuration, or has had it; else "". The
// leases of locks that gateways share are not handed over; nor is the wait for those which a lock
// had before it was shared, or while it was.
[[nodiscard]] std::string reason_to_restart(const config::Config& config);

} // namespace stint::runtime
