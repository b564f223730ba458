// Leases: a lease is an owner's hold on slots of a lock, with a fencing number and an expiry.
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

// The event that ends a lease, apart from its expiry and its release.
enum class LeaseBinding : std::uint8_t {
    lease,      // no other event
    connection, // the end of the connection that the lease is bound to
    stream      // the end of the streaming response that granted the lease
};

// How a lease came to its end.
enum class EndReason : std::uint8_t { released, expired, forced, disconnected, not_persisted };

// A request for a lease. The hashes are LockManager's; a zero hash means none.
struct LeaseRequest {
    std::string owner{};     // may be empty
    Hash128 once{};          // hash of the idempotency key
    Hash128 reentrant{};     // hash of a reentrant owner
    Duration ttl{};          // above zero
    std::uint64_t fence = 0; // from LeaseCover::next_fence(), for a shared lock; else 0
    LeaseBinding binding = LeaseBinding::lease;
    std::uint64_t connection_id = 0; // connection that the lease ends with; 0: none
};

// The answer to a request for a lease, or to renew one. See LockManager for `fence`.
struct Grant {
    Hash128 id{};
    std::uint64_t fence = 0;
    std::uint64_t max = 0;
    std::uint32_t count = 1; // levels entered by the reentrant owner
    SteadyTime expires{};
    bool replayed = false;     // true: the lease existed before this request
    bool renewed = true;       // false: it ends as it would have, see LockManager::renew()
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

// One level that a reentrant owner has entered; the first is that of the lease's grant.
struct Level {
    Hash128 once{};                  // hash of the idempotency key that asked for it
    std::uint64_t connection_id = 0; // connection that the level ends with; 0: none
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
    std::uint32_t asks = 1; // number of requests answered with this lease
    WallTime since{};
    SteadyTime granted{};
    SteadyTime expires{};
    limits::Permit permit;
    bool former = false; // a placeholder for the lock's unknown holders from before the start
    // The lease's versions recorded for the state file: the latest, and the latest that was
    // written.
    std::uint32_t version = 0;
    std::uint32_t kept_version = 0; // 0: none
    Duration recorded_ttl{};        // the longest ttl recorded
    std::uint32_t unwritten = 0;    // recorded versions that are not written yet
};

} // namespace stint::locks
