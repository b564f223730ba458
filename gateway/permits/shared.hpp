// What the workers share of giving permits.
#pragma once

#include "limits/fair_shares.hpp"
#include "limits/registry.hpp"
#include "locks/book.hpp"
#include "permits/dynamic_limits.hpp"
#include "permits/pauses.hpp"
#include "permits/replays.hpp"

#include <atomic>
#include <cstdint>

namespace stint::permits {

// Outlives every worker. Threads: as its parts say.
struct Shared {
    Shared(limits::Registry& registry, locks::Book& book) : dynamic{registry}, locks{book} {}

    DynamicLimits dynamic;
    Replays replays;
    Pauses pauses;
    limits::FairShares shares;
    locks::Book& locks;
    std::atomic<std::uint64_t> ties{0}; // the last number of Ties
};

} // namespace stint::permits
