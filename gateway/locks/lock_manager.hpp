// All locks and leases of the gateway: holders, ended leases, and what is persisted of them.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/registry.hpp"
#include "locks/lease.hpp"
#include "locks/listing.hpp"
#include "locks/lock.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace stint::locks {

// All locks and leases. Slots and their waiters are in limits/: a request admitted there gets a
// lease here, which holds the permit until the lease ends. A grant's fence (fencing number) is
// higher than that of every grant before, over all locks and restarts. The first is at least the
// milliseconds from 1970 to the start, times 2048 (below 2^53 until 2109): so fences rise even if
// nothing was persisted, unless two million leases are granted a second or the wall clock goes
// back. A lock that gateways share has the numbers that its store gives out, by the same rule: so
// they rise, too, when it is shared no more. The order over gateways is strict for a lock with
// max 1.
//
// Pure but for its mutex: the callers pass the time. Slots are freed without the mutex, since that
// wakes waiters. Threads: any.
class LockManager {
  public:
    // scheduler: gets the time of the next expire(), with the mutex held; must not call the
    // LockManager. registry and scheduler outlive this object.
    LockManager(limits::Registry& registry, limits::WakeupScheduler& scheduler, WallTime started);
    ~LockManager();
    LockManager(const LockManager&) = delete;
    LockManager& operator=(const LockManager&) = delete;

    struct Declared {
        std::string name;
        std::uint64_t max = 1;
        std::uint64_t max_waiting = 0;
        LockStorePtr store{}; // null: the lock is this gateway's own
    };
    // Applies a configuration. A lower max ends no lease. A lock that is no longer declared lives
    // on while it is in use. A lock that is shared from now on keeps its leases, and reports them
    // to the store. A lock that is shared no more, or in another place, is not granted here for as
    // long as a lease can last that another gateway may have granted; its leases can be renewed
    // until then, as long as the former store counts them. The caller updates waiters' quotas in
    // AdmissionQueue. dynamic: the most undeclared locks. max_waiting: the most waiters for each of
    // them.
    void configure(
        const std::vector<Declared>& declared,
        std::uint64_t dynamic,
        std::uint64_t max_waiting,
        const Now& now);

    // --- acquiring ---
    enum class Failure : std::uint8_t {
        unknown,   // the lock is not declared, and undeclared locks are not allowed
        different, // the lock has another max, LockError::max
        too_many,  // the most undeclared locks, or the most leases, are in use
        behind     // grants come faster than the state file can be written
    };
    struct LockError {
        Failure why{};
        std::uint64_t max = 0; // for Failure::different
    };
    // Returns the lock; makes an undeclared one if there is none. The lock stays while it is in use
    // or a caller holds its pointer. max: nothing accepts any max, and makes a new lock with 1.
    [[nodiscard]] std::variant<LockPtr, LockError>
    obtain(std::string_view name, std::optional<std::uint64_t> max, const Now& now);
    // Return hashes of a caller's texts for LeaseRequest::once and ::reentrant. Hashes stay the
    // same over a restart that keeps the state.
    [[nodiscard]] Hash128
    hash_once(std::string_view lock, std::string_view owner, std::string_view key) const;
    [[nodiscard]] Hash128 hash_owner(std::string_view lock, std::string_view owner) const;

    // Returns the live lease of the same idempotency key, renewed; else the live lease of the same
    // reentrant owner, one level deeper. Nothing: the request needs a slot.
    [[nodiscard]] std::optional<Grant> find_granted(const LeaseRequest& request, const Now& now);
    // Grants a lease. permit: a slot of lock.limit(). Of a lock with a store: longest_lease() is
    // above zero, and bounds the ttl. If find_granted() would find a lease by now,
    // returns that lease and frees the slot. Throws std::bad_alloc with nothing changed, except
    // that the slot is freed.
    // Nothing, and the slot is freed, if a reload has replaced the lock meanwhile.
    [[nodiscard]] std::optional<Grant>
    grant(const LockPtr& lock, const LeaseRequest& request, limits::Permit permit, const Now& now);
    void count_refusal(Lock& lock) noexcept;
    struct Busy {
        std::uint64_t held = 0;            // slots held by leases
        std::optional<Duration> ends_in{}; // time to the first expiry of a lease, if known
    };
    [[nodiscard]] Busy busy(const Lock& lock, const Now& now) const;
    void begin_wait(const LockPtr& lock, Waiting& waiting, std::string_view owner, const Now& now);
    void end_wait(Waiting& waiting) noexcept;

    // --- renewing and releasing ---
    struct Renewal {
        std::optional<Duration> ttl;     // new ttl; nothing: unchanged
        std::uint64_t connection_id = 0; // binds the lease to this connection; 0: unchanged
    };
    // Renews a lease. Returns nothing if `id` is no live lease of that lock: an ended lease never
    // comes back. If longest_lease() is zero, the lease stays as it is (Grant::renewed). If the ttl
    // is longer than the persisted one, wait until kept() returns yes before answering.
    [[nodiscard]] std::optional<Grant>
    renew(std::string_view lock, Hash128 id, const Renewal& renewal, const Now& now);
    enum class Release : std::uint8_t { free, inside, gone };
    struct Released {
        Release what = Release::gone; // free: the lease has ended, now or by an earlier release
        Grant grant;                  // for Release::inside
    };
    // Releases a level of a reentrant owner's lease, and all deeper ones. level: from 1; nothing is
    // the innermost.
    [[nodiscard]] Released
    release(std::string_view lock, Hash128 id, std::optional<std::uint32_t> level, const Now& now);
    // Ends a lease. False: `id` is no live lease of that lock.
    [[nodiscard]] bool end(std::string_view lock, Hash128 id, EndReason how, const Now& now);
    // Undoes a grant whose reply does not reach its client, as if the grant had never been made. No
    // effect if a later request was answered with the same lease.
    void withdraw(std::string_view lock, const Grant& grant, const Now& now) noexcept;
    // Ends the leases of a closed connection. No effect on a lease that was bound to another
    // connection since. Of a reentrant owner's lease, only the levels of that connection end.
    void
    end_for_connection(std::span<const Hash128> ids, std::uint64_t connection_id, const Now& now);
    // Unbinds leases from a connection that the gateway closes: they live on until their ttl ends.
    void detach(std::span<const Hash128> ids, std::uint64_t connection_id) noexcept;
    [[nodiscard]] bool is_bound(Hash128 id, std::uint64_t connection_id, const Now& now) const;
    // Returns the lease as it is now; nothing if it has ended. Then why() returns the reason, for a
    // while.
    [[nodiscard]] std::optional<Grant> look(Hash128 id, const Now& now) const;
    [[nodiscard]] std::optional<EndReason> why(Hash128 id) const;
    // Ends expired leases. Returns when to call expire() next.
    SteadyTime expire(const Now& now) noexcept;

    // --- listing ---
    // Lists locks that are declared or in use, ordered by name, from the first one after `after`,
    // as many as fit into one answer.
    [[nodiscard]] LockList list(std::string_view after, const Now& now) const;
    [[nodiscard]] std::optional<LockState> state_of(std::string_view name, const Now& now) const;
    // Returns the figures of each declared lock, then those of all other locks together.
    [[nodiscard]] std::vector<LockFigures> collect_metrics() const;

    // --- persistence ---
    // Starts recording changes for the state file. `recorded` is called, with the mutex held,
    // whenever there are changes to take. Call before any request.
    void record(std::function<void()> recorded);
    // Restores leases, each for its whole ttl from now. Call before configure(). fence: the highest
    // fence ever granted.
    void restore(const std::vector<SavedLease>& leases, std::uint64_t fence, const Now& now);
    // Keeps every lock full until `end`, because the holders from before the start are unknown.
    // Call before any request.
    void keep_closed_until(SteadyTime end, const Now& now);

    struct Record {
        Hash128 id{};
        std::uint32_t version = 0;
        std::optional<SavedLease> lease; // nothing: the lease has ended
    };
    struct Records {
        std::vector<Record> changes; // to be written in this order
        std::uint64_t fence = 0;     // the highest fence ever granted
    };
    [[nodiscard]] Records take_records();
    [[nodiscard]] Records everything(); // all live leases; supersedes all changes until now
    // Report whether the records from take_records() were written. A lease of which no version was
    // written ends: no client was told of it.
    void written(const Records& records) noexcept;
    void not_written(Records records, const Now& now);

    enum class Durability : std::uint8_t { yes, no, not_yet };
    // Returns yes if the lease would survive the process as this grant states it; always yes if
    // nothing is recorded. no: the write has failed, or the lease has ended. not_yet: the write is
    // under way.
    [[nodiscard]] Durability kept(const Grant& grant) const;
    // A listener for the end of writes: each worker has one.
    class Listener : public boost::intrusive::list_base_hook<> {
      public:
        Listener() = default;
        Listener(const Listener&) = delete;
        Listener& operator=(const Listener&) = delete;
        // Called when records were written or could not be. Called on any thread, with the mutex
        // held: must not call the LockManager.
        virtual void on_written() noexcept = 0;

      protected:
        ~Listener() = default;
    };
    void add(Listener& listener);
    void remove(Listener& listener) noexcept;

  private:
    struct Spread {
        std::size_t operator()(Hash128 hash) const noexcept { return hash.low; }
    };
    struct Sooner {
        bool operator()(const Lease& a, const Lease& b) const noexcept {
            return a.expires < b.expires;
        }
    };
    using Leases = std::unordered_map<Hash128, std::unique_ptr<Lease>, Spread>;
    // The most ended leases whose end is remembered, for why() and for repeated releases.
    static constexpr std::size_t remembered = 10'000;
    // The quota for slots that were held before the start, so that they fit whatever the lock's max
    // is now.
    static constexpr std::uint64_t any_number = 1'000'000'000;
    static constexpr std::size_t most_leases = 1'000'000;
    static constexpr std::size_t most_records = 100'000; // not yet taken by take_records()

    // Called with the mutex locked:
    [[nodiscard]] LockPtr make(const Declared& declared, std::uint64_t fence, const Now& now);
    void reserve_for_previous_holders(const LockPtr& lock, SteadyTime until, const Now& now);
    [[nodiscard]] LockPtr replace(
        const LockPtr& former,
        const Declared& by,
        const Now& now,
        std::vector<limits::Permit>& freed);
    void
    move_leases(Lock& from, const LockPtr& to, const Now& now, std::vector<limits::Permit>& freed);
    [[nodiscard]] bool make_room_for_lock(const Now& now);
    void forget_unused();
    [[nodiscard]] static bool in_use(const LockPtr& lock) noexcept;
    [[nodiscard]] static bool to_be_seen(const Lock& lock) noexcept;
    [[nodiscard]] static LockState describe(const Lock& lock, std::size_t most, const Now& now);
    void enter(Lease& lease, const LeaseRequest& request);
    void leave(Lease& lease, std::size_t levels) noexcept;
    [[nodiscard]] Lease* find_active(Hash128 id, const Now& now) const noexcept;
    [[nodiscard]] Lease* find_active_of(std::string_view lock, Hash128 id, const Now& now) noexcept;
    [[nodiscard]] Lease* find_active_known(Hash128 hash, const Now& now) noexcept;
    [[nodiscard]] std::optional<Grant> reenter(const LeaseRequest& request, const Now& now);
    Lease&
    insert(std::unique_ptr<Lease> made, const LockPtr& lock, const Now& now, SteadyTime expires);
    void forget(Hash128 hash, const Lease& lease) noexcept;
    void know(Lease& lease);
    void file(Lease& lease) noexcept;
    bool renew(Lease& lease, Duration ttl, const Now& now);
    [[nodiscard]] std::unique_ptr<Lease> take_out(Lease& lease, EndReason how) noexcept;
    void remember(Hash128 id, EndReason how) noexcept;
    void restore(const SavedLease& from, const Now& now);
    void record_grant(Lease& lease);
    void record_end(Hash128 id) noexcept;
    void notify_listeners() noexcept;

    limits::Registry& registry_;
    limits::WakeupScheduler& scheduler_;
    const KeyHasher id_hasher_; // hashes only serial numbers: no id reveals another

    mutable std::mutex mutex_; // guards all below
    std::map<std::string, LockPtr, std::less<>> locks_;
    std::vector<LockPtr> replaced_; // that may have leases yet
    std::size_t dynamic_ = 0;       // number of undeclared locks in locks_
    std::uint64_t most_dynamic_ = 0;
    SteadyTime next_sweep_{}; // earliest next search for unused locks
    std::uint64_t dynamic_max_waiting_ = 0;
    Counts dynamic_counts_; // totals of forgotten dynamic locks
    Leases leases_;
    std::unordered_map<Hash128, Lease*, Spread> known_; // by Level::once and Lease::reentrant
    boost::intrusive::
        multiset<Lease, boost::intrusive::base_hook<ByExpiry>, boost::intrusive::compare<Sooner>>
            by_expiry_;
    SteadyTime announced_ = SteadyTime::max();
    SteadyTime closed_until_ = SteadyTime::min();
    std::unordered_map<Hash128, EndReason, Spread> ended_;
    std::list<Hash128> ended_order_; // the oldest first
    std::uint64_t fence_ = 0;        // the highest fence granted
    std::uint64_t last_number_ = 0;  // serial number of the last id
    std::function<void()> recorded_; // empty: nothing is recorded
    std::vector<Record> records_;
    boost::intrusive::list<Listener> listeners_;
};

} // namespace stint::locks
