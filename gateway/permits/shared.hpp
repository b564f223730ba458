// What the workers share of giving permits.
#pragma once

#include "limits/fair_shares.hpp"
#include "limits/registry.hpp"
#include "permits/dynamic_limits.hpp"
#include "permits/pauses.hpp"
#include "permits/replays.hpp"

namespace stint::permits {

// Outlives every worker. Threads: as its parts say.
struct Shared {
    explicit Shared(limits::Registry& registry) : dynamic{registry} {}

    DynamicLimits dynamic;
    Replays replays;
    Pauses pauses;
    limits::FairShares shares;
};

} // namespace stint::permits
