// The state of locks for the APIs that list them, and for metrics.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "locks/lock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stint::locks {

struct HolderState {
    Hash128 id{}; // lease id; only for callers that may end the lease
    std::string owner;
    std::uint64_t fence = 0;
    std::uint32_t count = 1;
    LeaseBinding binding = LeaseBinding::lease;
    Duration held{};
    WallTime since{};
    Duration expires_in{};
};

struct WaiterState {
    std::string owner;
    Duration waiting{};
};

struct LockState {
    std::string name;
    std::uint64_t max = 0;
    std::uint64_t held = 0;    // slots that leases hold
    std::uint64_t proxied = 0; // slots that proxied requests hold, where the lock is a route's cap
    bool declared = false;
    std::string store{};              // in which gateways share the lock; empty: this gateway's own
    std::uint64_t share = 0;          // the slots that the store counts for this gateway
    std::uint64_t fence = 0;          // the highest fence granted; 0: none
    std::vector<HolderState> holders; // in the order of their grants
    std::uint64_t waiting = 0;
    std::vector<WaiterState> waiters; // in the order of their arrival
};

struct LockList {
    std::vector<LockState> locks;
    bool more = false; // more locks follow
};

struct LockFigures {
    std::string name; // the lock's name; "(dynamic)": all undeclared locks together
    std::uint64_t max = 0;
    std::uint64_t held = 0;
    std::uint64_t waiting = 0;
    std::uint64_t locks = 0; // number of locks that are declared or in use
    Counts counts;
};

} // namespace stint::locks
