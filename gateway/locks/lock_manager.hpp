// Every lock and lease: holders, ended leases, and what is persisted of them.
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

// Slots and their waiters are in limits/: a request admitted there gets a lease here, which holds
// the permit until the lease ends. Each grant has a higher fence than every one before it, over all
// locks and restarts: the first is no lower than the microseconds since 1970 (below 2^53 until
// 2255). So fences rise even if nothing was persisted, unless a million are granted a second or the
// wall clock goes back.
//
// Pure but for its mutex: instants come from the callers. Slots are freed without the mutex, since
// that wakes waiters. Threads: any.
class LockManager {
  public:
    // scheduler: schedules the next expire(). It is called with the mutex held and must not call
    // back. Registry and scheduler outlive this.
    LockManager(limits::Registry& registry, limits::WakeupScheduler& scheduler, WallTime started);
    ~LockManager();
    LockManager(const LockManager&) = delete;
    LockManager& operator=(const LockManager&) = delete;

    struct Declared {
        std::string name;
        std::uint64_t max = 1;
        std::uint64_t max_waiting = 0;
    };
    // Applies a configuration. A lower max ends no lease; AdmissionQueue informs a lock's waiters.
    // A lock that is no longer declared lives on while it is in use. dynamic: the most undeclared
    // locks; max_waiting: the most waiters before each of them.
    void configure(
        const std::vector<Declared>& declared,
        std::uint64_t dynamic,
        std::uint64_t max_waiting,
        const Now& now);

    // --- acquiring ---
    enum class Failure : std::uint8_t {
        unknown,   // not declared, and no undeclared locks are allowed
        different, // it has another max: Lock::max()
        too_many,  // the most locks, or leases, are in use
        behind     // grants come faster than they can be written
    };
    struct LockError {
        Failure why{};
        std::uint64_t max = 0; // for Failure::different
    };
    // Returns the lock, made now if there is none. It stays while it is in use or its pointer
    // lives.
    [[nodiscard]] std::variant<LockPtr, LockError>
    obtain(std::string_view name, std::optional<std::uint64_t> max, const Now& now);
    // Hash a caller's texts for LeaseRequest. Hashes stay the same over a restart that keeps the
    // state.
    [[nodiscard]] Hash128
    hash_once(std::string_view lock, std::string_view owner, std::string_view key) const;
    [[nodiscard]] Hash128 hash_owner(std::string_view lock, std::string_view owner) const;

    // Returns the live lease of the same idempotency key, renewed. Else returns that of the same
    // reentrant owner, one level deeper. Nothing: the request needs a slot.
    [[nodiscard]] std::optional<Grant> find_granted(const LeaseRequest& request, const Now& now);
    // Grants a lease. permit: a slot of lock.limit(). If find_granted() finds a lease by now,
    // returns that and frees the slot. Throws std::bad_alloc with nothing changed but the slot
    // freed.
    [[nodiscard]] Grant
    grant(const LockPtr& lock, LeaseRequest request, limits::Permit permit, const Now& now);
    void count_refusal(Lock& lock) noexcept;
    struct Busy {
        std::uint64_t held = 0;            // slots, by leases
        std::optional<Duration> ends_in{}; // expiry of the first lease, if known
    };
    [[nodiscard]] Busy busy(const Lock& lock, const Now& now) const;
    void begin_wait(const LockPtr& lock, Waiting& waiting, std::string_view owner, const Now& now);
    void end_wait(Waiting& waiting) noexcept;

    // --- renewing and releasing ---
    struct Renewal {
        std::optional<Duration> ttl;     // nothing: unchanged
        std::uint64_t connection_id = 0; // binds it to this connection; 0: unchanged
    };
    // Renews a lease. Nothing if it is no live lease of that lock: an ended one never comes back.
    // After a ttl longer than the persisted one, see kept().
    [[nodiscard]] std::optional<Grant>
    renew(std::string_view lock, Hash128 id, const Renewal& renewal, const Now& now);
    enum class Release : std::uint8_t { free, inside, gone };
    struct Released {
        Release what = Release::gone; // free: also if it was released before
        Grant grant;                  // for Release::inside
    };
    // Releases one level of a reentrant owner and all deeper ones. level: nothing is the innermost.
    [[nodiscard]] Released
    release(std::string_view lock, Hash128 id, std::optional<std::uint32_t> level, const Now& now);
    // Ends a lease. False: it is no live lease.
    [[nodiscard]] bool end(std::string_view lock, Hash128 id, EndReason how, const Now& now);
    // Undoes a grant whose answer does not reach its client, as if it had never been. No effect if
    // the lease was granted to a later request as well.
    void withdraw(std::string_view lock, const Grant& grant, const Now& now) noexcept;
    // Ends the leases of a closed connection. No effect on a lease that is bound to another by now;
    // of a reentrant owner only the levels of that connection end.
    void
    end_for_connection(std::span<const Hash128> ids, std::uint64_t connection_id, const Now& now);
    // Unbinds leases from a connection that the gateway closes: they live on until their ttl ends.
    void detach(std::span<const Hash128> ids, std::uint64_t connection_id) noexcept;
    [[nodiscard]] bool is_bound(Hash128 id, std::uint64_t connection_id, const Now& now) const;
    // Returns the lease as it is now; nothing if it has ended: then why() tells how, for a while.
    [[nodiscard]] std::optional<Grant> look(Hash128 id, const Now& now) const;
    [[nodiscard]] std::optional<EndReason> why(Hash128 id) const;
    // Ends expired leases. Returns when to call it next.
    SteadyTime expire(const Now& now) noexcept;

    // --- listing ---
    // Lists locks that are declared or in use, ordered by name, from the first one after `after`,
    // as many as fit into one answer.
    [[nodiscard]] LockList list(std::string_view after, const Now& now) const;
    [[nodiscard]] std::optional<LockState> state_of(std::string_view name, const Now& now) const;
    [[nodiscard]] std::vector<LockFigures> collect_metrics() const; // the declared, then the others

    // --- persistence ---
    // Starts recording changes; `recorded` is called, with the mutex held, when there are some.
    // Call before any request.
    void record(std::function<void()> recorded);
    // Restores leases, each for its whole ttl. Call before configure(). fence: the highest ever
    // given.
    void restore(const std::vector<SavedLease>& leases, std::uint64_t fence, const Now& now);
    // Keeps every lock full until `end`, when the holders before the start are unknown. Call before
    // any request.
    void keep_closed_until(SteadyTime end, const Now& now);

    struct Record {
        Hash128 id{};
        std::uint32_t version = 0;
        std::optional<SavedLease> lease; // nothing: it has ended
    };
    struct Records {
        std::vector<Record> changes; // in this order
        std::uint64_t fence = 0;     // the highest ever given
    };
    [[nodiscard]] Records take_records();
    [[nodiscard]] Records everything(); // supersedes the changes until now
    // Report whether taken records were written. Leases that could not be written end: no client
    // was told of them.
    void written(const Records& records) noexcept;
    void not_written(Records records, const Now& now);

    enum class Durability : std::uint8_t { yes, no, not_yet };
    // Returns whether the lease would survive the process as this grant states it. Always yes if
    // nothing is recorded. no: it could not be written, or has ended.
    [[nodiscard]] Durability kept(const Grant& grant) const;
    // Is notified when records were written or could not be. One per worker.
    class Listener : public boost::intrusive::list_base_hook<> {
      public:
        Listener() = default;
        Listener(const Listener&) = delete;
        Listener& operator=(const Listener&) = delete;
        // Called on any thread, with the mutex held: it must not call back.
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
    // The most ended leases that are remembered.
    static constexpr std::size_t remembered = 10'000;
    // The quota for slots held since before the start, whatever the lock's max is by now.
    static constexpr std::uint64_t any_number = 1'000'000'000;
    static constexpr std::size_t most_leases = 1'000'000;
    static constexpr std::size_t most_records = 100'000; // not yet taken

    // With the mutex locked:
    [[nodiscard]] LockPtr
    make(std::string_view name, std::uint64_t max, std::uint64_t fence, const Now& now);
    void reserve_for_previous_holders(const LockPtr& lock, const Now& now);
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
    [[nodiscard]] static Grant grant_of(const Lease& lease);
    Lease&
    insert(std::unique_ptr<Lease> made, const LockPtr& lock, const Now& now, SteadyTime expires);
    void forget(Hash128 hash, const Lease& lease) noexcept;
    void know(Lease& lease);
    void file(Lease& lease) noexcept;
    void renew(Lease& lease, Duration ttl, const Now& now);
    [[nodiscard]] std::unique_ptr<Lease> take_out(Lease& lease, EndReason how) noexcept;
    static void count(Counts& counts, EndReason how) noexcept;
    void remember(Hash128 id, EndReason how) noexcept;
    void restore(const SavedLease& from, const Now& now);
    void record_grant(Lease& lease);
    void record_end(Hash128 id) noexcept;
    [[nodiscard]] static SavedLease saved(const Lease& lease);
    void notify_listeners() noexcept;
    // Without the mutex:
    static void free_slot(std::unique_ptr<Lease> ended, const Now& now) noexcept;

    limits::Registry& registry_;
    limits::WakeupScheduler& scheduler_;
    const KeyHasher id_hasher_; // hashes only serial numbers: no id reveals another

    mutable std::mutex mutex_; // guards all below
    std::map<std::string, LockPtr, std::less<>> locks_;
    std::size_t dynamic_ = 0; // undeclared ones among them
    std::uint64_t most_dynamic_ = 0;
    SteadyTime next_sweep_{}; // for unused locks
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
    std::uint64_t fence_ = 0;        // the highest given
    std::uint64_t last_number_ = 0;  // serial number of the last id
    std::function<void()> recorded_; // empty: nothing is recorded
    std::vector<Record> records_;
    boost::intrusive::list<Listener> listeners_;
};

} // namespace stint::locks
