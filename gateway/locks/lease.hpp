// Leases: holders of a lock's slots, with fence and expiry.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/permit.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stint::locks {

class Lock;
using LockPtr = std::shared_ptr<Lock>;

// The event that ends a lease besides its ttl and its release.
enum class LeaseBinding : std::uint8_t {
    lease,      // none
    connection, // the end of the connection that it is tied to
    stream      // the end of the response that it was granted in
};

// How a lease came to its end.
enum class EndReason : std::uint8_t { released, expired, forced, disconnected, not_persisted };

// A holder's request. Hashes are LockManager's; zero: none.
struct LeaseRequest {
    std::string owner{}; // may be empty
    Hash128 once{};      // hash of the idempotency key
    Hash128 reentrant{}; // hash of a reentrant owner
    Duration ttl{};      // above zero
    LeaseBinding binding = LeaseBinding::lease;
    std::uint64_t connection_id = 0; // connection that it ends with; 0: none
};

// The answer to a request for a lease. LockManager explains fences.
struct Grant {
    Hash128 id{};
    std::uint64_t fence = 0;
    std::uint64_t max = 0;
    std::uint32_t count = 1; // levels that its owner has entered
    SteadyTime expires{};
    bool replayed = false;     // true: the lease existed before this request
    std::uint32_t version = 0; // for LockManager::kept()
    std::uint32_t ask = 0;     // for LockManager::withdraw()
};

// A lease as it is persisted for a restart.
struct SavedLease {
    std::string lock{};
    std::uint64_t max = 0; // the lock's max
    Hash128 id{};
    std::uint64_t fence = 0;
    Duration ttl{};
    LeaseBinding binding = LeaseBinding::lease;
    std::string owner{};
    WallTime since{};
    Hash128 reentrant{};
    std::vector<Hash128> onces{}; // one per level, at least one

    friend bool operator==(const SavedLease&, const SavedLease&) = default;
};

using InLock = boost::intrusive::list_base_hook<boost::intrusive::tag<struct InLockTag>>;
using ByExpiry = boost::intrusive::set_base_hook<boost::intrusive::tag<struct ByExpiryTag>>;

// One level of a reentrant owner; the first is the lease's own.
struct Level {
    Hash128 once{};                  // LeaseRequest::once
    std::uint64_t connection_id = 0; // LeaseRequest::connection_id, or a renewal's
};

// One live lease. Internal to locks/, guarded by LockManager's mutex.
struct Lease : InLock, ByExpiry {
    LockPtr lock; // outlives the permit
    Hash128 id{};
    std::uint64_t fence = 0;
    std::uint64_t slots = 1;
    std::string owner;
    Hash128 reentrant{};
    Duration ttl{};
    LeaseBinding binding = LeaseBinding::lease;
    boost::container::small_vector<Level, 1> levels;
    std::uint32_t asks = 1; // requests that got this lease as their answer
    WallTime since{};
    SteadyTime granted{};
    SteadyTime expires{};
    limits::Permit permit;
    bool former = false; // placeholder for all holders from before the start
    // The lease's recorded versions: the latest, and the latest that outlives the process.
    std::uint32_t version = 0;
    std::uint32_t kept_version = 0; // 0: none
    Duration recorded_ttl{};        // the longest recorded
    std::uint32_t unwritten = 0;    // versions on their way to storage
};

} // namespace stint::locks
