// State for permits that the workers share.
#pragma once

#include "limits/fairness/fair_shares.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"
#include "permits/dynamic_limits.hpp"
#include "permits/idempotency_cache.hpp"
#include "permits/reported_cooldowns.hpp"

#include <atomic>
#include <cstdint>

namespace stint::permits {

// Outlives every worker. Each member states its own thread rule.
struct Shared {
    Shared(limits::Registry& registry, locks::LockManager& book) : dynamic{registry}, locks{book} {}

    DynamicLimits dynamic;
    IdempotencyCache idempotency_cache;
    ReportedCooldowns reported_cooldowns;
    limits::FairShares shares;
    locks::LockManager& locks;
    // False: another process grants and renews leases, and knows those of this one. Changed while
    // no request is decided.
    std::atomic<bool> grants_leases{true};
    std::atomic<std::uint64_t> connection_leases{0}; // the last number given to a ConnectionLeases
};

} // namespace stint::permits
