// The queues of requests that wait for their turn at limits with `when_exceeded: wait`: one for
// each counter that refuses, shared by all workers. Decides which request goes next, but does not
// wake the requests itself.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/queue/counter_queue.hpp"
#include "limits/queue/waiter.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace stint::limits {

// Calls AdmissionQueue::open() in time.
class WakeupScheduler {
  public:
    // Requests a call of open() at `at` (at once, if that is past). Replaces the former request,
    // which was for later. Called on any thread, with the queue's lock held: must not call the
    // queue.
    virtual void schedule(SteadyTime at) noexcept = 0;
    // Requests a call of open() now. Called on any thread, without the queue's lock: may call
    // open() itself.
    virtual void run_now() noexcept = 0;

  protected:
    ~WakeupScheduler() = default;
};

// A waiter (queued request) has a place in a queue, not a reserved time. Whenever a counter may
// have room again (it "opens"), its waiters are tried in the fair order of FairQueue, until admit()
// refuses one. A new request whose counter has a queue joins that queue, even if the counter has
// room for a moment: no request overtakes. A waiter that another of its limits refuses moves to
// that limit's queue and keeps its deadline; it is refused if that limit does not let requests
// wait.
//
// One lock for all queues, because a waiter moves between queues; limits without waiters never take
// it. It is taken before any shard's lock. Threads: any.
class AdmissionQueue {
  public:
    explicit AdmissionQueue(WakeupScheduler& scheduler) : scheduler_{scheduler} {}
    AdmissionQueue(const AdmissionQueue&) = delete;
    AdmissionQueue& operator=(const AdmissionQueue&) = delete;
    ~AdmissionQueue(); // requires: no waiters

    enum class Entered : std::uint8_t { admitted, refused, waiting };
    // Admits, refuses or queues a request. If the request is admitted or refused, waiter.decision
    // has the result at once. If it is queued, its mailbox is notified of the later decision. A
    // request is refused by a limit that does not let requests wait, if the queue has `max_waiting`
    // waiters, or if its turn would come after max_wait. Throws std::bad_alloc with nothing
    // changed.
    [[nodiscard]] Entered enter(Waiter& waiter, const Now& now);

    // The answer of preview().
    struct Preview {
        Entered outcome;
        Decision decision{};        // as enter() would give it; empty if the waiter would wait
        Duration wait{};            // if it would wait: the estimated wait
        std::size_t waited_for = 0; // if it would wait: index of the charge
    };
    // Predicts what enter() would do with such a request now. Queues, charges and counts nothing,
    // and wakes no waiter: the permit is empty, and `states`, with room for one per charge, gets
    // the counters' present states. The wait lasts until the request's turn in the present fair
    // order; for a cap it is an estimate from the mean hold time. A max_wait of zero: refused if
    // the request would have to wait, although enter() may queue it until the next open(). Throws
    // as limits::preview().
    [[nodiscard]] Preview preview(
        std::span<const Charge> charges,
        std::span<const WaitTerms> terms,
        const Now& now,
        std::span<ChargeState> states);

    // Removes a waiter. An admission that was not collected yet is undone: its slots are free, its
    // charges go back to their windows. Idempotent.
    void leave(Waiter& waiter, const Now& now) noexcept;

    // Admits waiters that may go now, refuses waiters whose deadline has come, and notifies each
    // mailbox with decided waiters once. Returns when to call open() next; SteadyTime::max(): not
    // before the scheduler asks for it.
    SteadyTime open(const Now& now) noexcept;

    // Moves all decided waiters of this mailbox to `into`, in the order of the decisions. They
    // belong to the caller from then on, not to the queue.
    void collect(Mailbox& mailbox, Waiters& into) noexcept;

    // Reports that a slot was freed or a charge refunded. Call after Limit::awaited() was true, and
    // without any lock that Mailbox::notify() may take.
    void freed(Limit& limit, Hash128 key) noexcept;
    // Applies a new configuration's quota and burst to the limit's waiters; enforce: as
    // Charge::enforce, nullopt leaves it. The next open() admits by the new terms. `numbers` must
    // not throw.
    void
    update_quota(Limit& limit, const NumbersOf& numbers, std::optional<bool> enforce = {}) noexcept;

  private:
    struct Sooner {
        bool operator()(const CounterQueue& a, const CounterQueue& b) const noexcept {
            return a.filed_for < b.filed_for;
        }
    };
    // A queue with waiters, and the index of the charge that it is for.
    struct Occupied {
        CounterQueue* line = nullptr;
        std::size_t charge = 0;
    };

    // Takes the waiter out of its queue. Returns the permit that it was granted, and true if the
    // scheduler is to be called.
    [[nodiscard]] std::pair<Permit, bool> take_out(Waiter& waiter) noexcept;
    // Returns the occupied queue that a new request has to join even if its counter has room.
    // Nothing if there is none, or if the request costs more than a limit ever admits: then admit()
    // decides.
    [[nodiscard]] Occupied
    line_to_join(std::span<const Charge> charges, std::span<const WaitTerms> terms, const Now& now);
    // Returns the first occupied queue of a charge, from charge `from` on.
    [[nodiscard]] Occupied occupied_line(
        std::span<const Charge> charges,
        std::span<const WaitTerms> terms,
        std::size_t from) noexcept;
    // True if the refusing limit lets the request wait. False for a full table or too high a cost,
    // where waiting does not help.
    [[nodiscard]] static bool
    may_wait(std::span<const WaitTerms> terms, const Decision& refused) noexcept;
    // Returns the refusal of a waiter that has no place in the queue. wait: until its turn behind
    // all others.
    [[nodiscard]] static Decision
    without_place(const CounterQueue& line, std::size_t at, Duration wait) noexcept;
    [[nodiscard]] CounterQueue& line_of(const Charge& charge);
    // Queues the waiter for charge `at`. refused_for: the retry_after with which the queue's
    // counter has just refused the waiter; nothing if the counter was not asked.
    void stand_in(
        CounterQueue& line,
        Waiter& waiter,
        std::size_t at,
        std::optional<Duration> refused_for,
        const Now& now);
    void move_on(Waiter& waiter, const Now& now) noexcept;
    void serve(CounterQueue& line, const Now& now) noexcept;
    void decide(Waiter& waiter, Decision decision) noexcept;
    void refuse(Waiter& waiter, Decision decision) noexcept;
    void refuse_all(Waiters& refused, const CounterQueue& line, const Now& now) noexcept;
    // Inserts a queue into by_due_ again after any change to the queue. A queue whose first waiter
    // has changed is due at once. Erases an empty queue.
    void file(CounterQueue& line) noexcept;
    void unfile(CounterQueue& line) noexcept;
    void take_in(Waiter& waiter) noexcept;
    void let_out(Waiter& waiter) noexcept;
    void announce() noexcept;
    [[nodiscard]] bool is_news() noexcept;
    void ring_all() noexcept;

    WakeupScheduler& scheduler_;
    std::mutex mutex_;
    std::map<CounterId, CounterQueue> lines_; // no queue here is empty
    boost::intrusive::multiset<CounterQueue, boost::intrusive::compare<Sooner>> by_due_;
    boost::intrusive::list<Mailbox> to_ring_;
    SteadyTime announced_ = SteadyTime::max();
    std::uint64_t arrivals_ = 0;
};

} // namespace stint::limits
