// One lock: a concurrency limit of `limits/` whose slots have named holders, with a fencing number
// and an expiry each.
#pragma once

#include "base/time.hpp"
#include "limits/limit.hpp"
#include "limits/shared/shared_terms.hpp"
#include "locks/lease.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stint::locks {

class LockManager;

// A request that waits for the lock, as GET /locks lists it. Owned by the request; listed from
// LockManager::begin_wait() to the end of the wait.
class Waiting : public boost::intrusive::list_base_hook<> {
  public:
    Waiting() = default;
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting(); // calls LockManager::end_wait(), if the request waits

  private:
    friend class LockManager;
    LockManager* book_ = nullptr;
    LockPtr lock_;
    std::string owner_;
    SteadyTime since_{};
};

// Totals of the requests for a lock and of the ends of its leases.
struct Counts {
    std::uint64_t granted = 0;
    std::uint64_t refused = 0; // 409, at once or after a wait
    std::uint64_t released = 0;
    // Leases that ended by their ttl: the holder crashed or forgot to release.
    std::uint64_t expired = 0;
    std::uint64_t forced = 0;
    std::uint64_t disconnected = 0; // leases that ended with their connections

    Counts& operator+=(const Counts& other) noexcept;
    void count_end(EndReason how) noexcept;
};

// The store in which gateways share a lock.
struct LockStore {
    std::string name{};  // in the configuration
    std::string place{}; // where its counters are: equal in two stores that have the same
    limits::SharedTerms terms{};
};
using LockStorePtr = std::shared_ptr<const LockStore>;

// One lock. Shared by LockManager and by requests for the lock. Threads: any for the public
// members.
class Lock {
  public:
    // store: null: the lock is this gateway's own.
    Lock(std::string name, limits::LimitPtr limit, std::uint64_t max, LockStorePtr store = {})
        : name_{std::move(name)}, limit_{std::move(limit)}, store_{std::move(store)}, max_{max} {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const limits::LimitPtr& limit() const noexcept { return limit_; }
    [[nodiscard]] std::uint64_t max() const noexcept {
        return max_.load(std::memory_order_relaxed);
    }
    // Returns the most requests that may wait for the lock at a time.
    [[nodiscard]] std::uint64_t max_waiting() const noexcept {
        return max_waiting_.load(std::memory_order_relaxed);
    }
    // Returns the store in which gateways share the lock; null: this gateway's own.
    [[nodiscard]] const LockStorePtr& store() const noexcept { return store_; }
    // True once a reload has put another lock of the same name in its place, with another store, or
    // none: it grants nothing any more.
    [[nodiscard]] bool replaced() const noexcept {
        return replaced_.load(std::memory_order_acquire);
    }
    // Returns a charge on the lock's limit for one slot.
    [[nodiscard]] limits::Charge charge() const noexcept {
        return {.limit = limit_.get(), .quota = max()};
    }

  private:
    friend class LockManager;
    using Leases = boost::intrusive::list<Lease, boost::intrusive::base_hook<InLock>>;

    const std::string name_;
    const limits::LimitPtr limit_;
    const LockStorePtr store_;
    std::atomic<std::uint64_t> max_;
    std::atomic<std::uint64_t> max_waiting_{0};
    std::atomic<bool> replaced_{false};
    // Guarded by LockManager's mutex:
    bool declared_ = false;
    SteadyTime ends_ = SteadyTime::max(); // no lease is renewed for longer
    Leases leases_;                       // in the order of their grants
    std::uint64_t held_ = 0;              // slots held by leases
    boost::intrusive::list<Waiting> waiting_;
    Counts counts_;
};

// Returns how long a lease of the lock may last that is granted or renewed now. Of a lock that
// gateways share: zero while its store does not count all slots that are in use here, or this
// gateway's session there is over. Thread-safe.
[[nodiscard]] Duration longest_lease(const Lock& lock, const Now& now) noexcept;

} // namespace stint::locks
