// Every lock and every lease: who holds what, what has ended, and what is to be kept of it.
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

// The slots themselves, and who waits for them, are limits/: whoever is admitted there gets a lease
// here, which has the permit until it ends. Each grant has a higher fence than every one before it,
// over all locks and over restarts: the first is no lower than the microseconds since 1970 (below
// 2^53 until 2255), so it rises also where nothing was kept, unless a million are granted a second
// or the wall clock goes back.
//
// Pure but for its mutex: instants come from the callers. A slot is freed without the mutex: that
// is told to those who wait. Threads: any.
class LockManager {
  public:
    // bell: rings when expire() is to be called; called with the mutex held, it must not call back.
    // Both outlive this.
    LockManager(limits::Registry& registry, limits::WakeupScheduler& scheduler, WallTime started);
    ~LockManager();
    LockManager(const LockManager&) = delete;
    LockManager& operator=(const LockManager&) = delete;

    struct Declared {
        std::string name;
        std::uint64_t max = 1;
        std::uint64_t max_waiting = 0;
    };
    // What the configuration says from now on. A lower max throws nobody out; who waits for a lock
    // is to be told by the room. A lock that is declared no more lives on while it is in use.
    // dynamic: how many others there may be; max_waiting before each of them.
    void configure(
        const std::vector<Declared>& declared,
        std::uint64_t dynamic,
        std::uint64_t max_waiting,
        const Now& now);

    // --- getting in ---
    enum class Failure : std::uint8_t {
        unknown,   // it is not declared, and there may be no others
        different, // it has another max: Lock::max()
        too_many,  // all locks, or leases, that there may be are in use
        behind     // what has been granted cannot be written as fast as it comes
    };
    struct LockError {
        Failure why{};
        std::uint64_t max = 0; // of Failure::different
    };
    // Made now if there is none. It stays for as long as it is in use, or its pointer lives.
    [[nodiscard]] std::variant<LockPtr, LockError>
    obtain(std::string_view name, std::optional<std::uint64_t> max, const Now& now);
    // What LeaseRequest has of a caller's texts; they stay the same over a restart that keeps the
    // state.
    [[nodiscard]] Hash128
    hash_once(std::string_view lock, std::string_view owner, std::string_view key) const;
    [[nodiscard]] Hash128 hash_owner(std::string_view lock, std::string_view owner) const;

    // The living lease of a wish that came before, or of an owner who may come in again: renewed,
    // and the owner one deeper inside. Nothing: it needs a slot.
    [[nodiscard]] std::optional<Grant> find_granted(const LeaseRequest& request, const Now& now);
    // permit: a slot of lock.limit(). As find_granted() where that finds one by now; then the slot
    // is free again. Throws std::bad_alloc with nothing changed but that slot.
    [[nodiscard]] Grant
    grant(const LockPtr& lock, LeaseRequest request, limits::Permit permit, const Now& now);
    void count_refusal(Lock& lock) noexcept;
    struct Busy {
        std::uint64_t held = 0;            // slots, by leases
        std::optional<Duration> ends_in{}; // the first of them ends then at the latest, if known
    };
    [[nodiscard]] Busy busy(const Lock& lock, const Now& now) const;
    void begin_wait(const LockPtr& lock, Waiting& waiting, std::string_view owner, const Now& now);
    void end_wait(Waiting& waiting) noexcept;

    // --- staying and leaving ---
    struct Renewal {
        std::optional<Duration> ttl;     // nothing: as it was
        std::uint64_t connection_id = 0; // of LeaseBinding::connection from now on; 0: as it is
    };
    // Nothing where it is no living lease of that lock: what has ended never comes back. With a ttl
    // that is longer than what is kept: see kept().
    [[nodiscard]] std::optional<Grant>
    renew(std::string_view lock, Hash128 id, const Renewal& renewal, const Now& now);
    enum class Release : std::uint8_t { free, inside, gone };
    struct Released {
        Release what = Release::gone; // free: also where it had been released before
        Grant grant;                  // of Release::inside
    };
    // level: which one, of an owner who is that deep inside; nothing: the innermost.
    [[nodiscard]] Released
    release(std::string_view lock, Hash128 id, std::optional<std::uint32_t> level, const Now& now);
    // False: it is no living lease.
    [[nodiscard]] bool end(std::string_view lock, Hash128 id, EndReason how, const Now& now);
    // Nobody has heard, or will, of this grant: it is as if it had never been. Without effect if
    // the lease was granted to a later ask as well.
    void withdraw(std::string_view lock, const Grant& grant, const Now& now) noexcept;
    // Their connection has ended. Without effect on a lease that is tied to another by now; of an
    // owner who is several levels inside, those of that connection end.
    void
    end_for_connection(std::span<const Hash128> ids, std::uint64_t connection_id, const Now& now);
    // The same, where the gateway ends the connection: they live on until their ttl is over.
    void detach(std::span<const Hash128> ids, std::uint64_t connection_id) noexcept;
    [[nodiscard]] bool is_bound(Hash128 id, std::uint64_t connection_id, const Now& now) const;
    // As it is now; nothing: it has ended, then why() it has, for a while.
    [[nodiscard]] std::optional<Grant> look(Hash128 id, const Now& now) const;
    [[nodiscard]] std::optional<EndReason> why(Hash128 id) const;
    // Ends those whose time is over; when it is to be called next.
    SteadyTime expire(const Now& now) noexcept;

    // --- to be seen ---
    // In the order of the names, after that one, as many as fit into one answer; those in use, and
    // the declared.
    [[nodiscard]] LockList list(std::string_view after, const Now& now) const;
    [[nodiscard]] std::optional<LockState> state_of(std::string_view name, const Now& now) const;
    [[nodiscard]] std::vector<LockFigures> collect_metrics() const; // the declared, then the others

    // --- beyond the process ---
    // Before anybody asks: from now on changes are recorded, and `recorded` is called, with the
    // mutex held, when there are some.
    void record(std::function<void()> recorded);
    // Before configure(): these go on, each for its whole ttl. fence: the highest ever given.
    void restore(const std::vector<SavedLease>& leases, std::uint64_t fence, const Now& now);
    // Before anybody asks, where it is not known who held what before the start: until then each
    // lock is full.
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
    [[nodiscard]] Records everything(); // in place of the changes until now
    // What came of records that were taken. Leases that could not be kept end: nobody was told of
    // them.
    void written(const Records& records) noexcept;
    void not_written(Records records, const Now& now);

    enum class Durability : std::uint8_t { yes, no, not_yet };
    // Whether the lease would survive the process as it was when this was answered. Always, where
    // nothing is recorded. no: it could not be written, or has ended.
    [[nodiscard]] Durability kept(const Grant& grant) const;
    // Hears of written() and not_written(). One per worker.
    class Listener : public boost::intrusive::list_base_hook<> {
      public:
        Listener() = default;
        Listener(const Listener&) = delete;
        Listener& operator=(const Listener&) = delete;
        // Any thread, with the mutex held: it must not call back.
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
    // What has ended is remembered for so many.
    static constexpr std::size_t remembered = 10'000;
    // Of who had its slot before the start, whatever the lock's number is by now.
    static constexpr std::uint64_t any_number = 1'000'000'000;
    static constexpr std::size_t most_leases = 1'000'000;
    static constexpr std::size_t most_records = 100'000; // to be taken

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
    // Without it:
    static void free_slot(std::unique_ptr<Lease> ended, const Now& now) noexcept;

    limits::Registry& registry_;
    limits::WakeupScheduler& scheduler_;
    const KeyHasher id_hasher_; // of nothing but numbers: nobody can tell one id from another

    mutable std::mutex mutex_; // guards all below
    std::map<std::string, LockPtr, std::less<>> locks_;
    std::size_t dynamic_ = 0; // of them, those that are not declared
    std::uint64_t most_dynamic_ = 0;
    SteadyTime next_sweep_{}; // for locks that nobody uses
    std::uint64_t dynamic_max_waiting_ = 0;
    Counts dynamic_counts_; // of those that are forgotten
    Leases leases_;
    std::unordered_map<Hash128, Lease*, Spread> known_; // by Level::once and Lease::reentrant
    boost::intrusive::
        multiset<Lease, boost::intrusive::base_hook<ByExpiry>, boost::intrusive::compare<Sooner>>
            by_expiry_;
    SteadyTime announced_ = SteadyTime::max();
    SteadyTime closed_until_ = SteadyTime::min();
    std::unordered_map<Hash128, EndReason, Spread> ended_;
    std::list<Hash128> ended_order_; // the oldest first
    std::uint64_t fence_ = 0;        // the highest that was given
    std::uint64_t last_number_ = 0;  // of ids
    std::function<void()> recorded_; // empty: nothing is recorded
    std::vector<Record> records_;
    boost::intrusive::list<Listener> listeners_;
};

} // namespace stint::locks
