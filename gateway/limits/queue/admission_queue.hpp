// Requests that wait for their turn before limits that say `when_exceeded: wait`: a queue before
// each counter that refuses, shared by all workers. It chooses; it does not wake.
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

// The scheduler that calls open() in time.
class WakeupScheduler {
  public:
    // Requests a call of open() at `at` (at once, if that is past). Replaces the former request,
    // which was for later. Any thread, with the queue's lock held: it must not call back.
    virtual void schedule(SteadyTime at) noexcept = 0;
    // Requests a call of open() now. Any thread, without the queue's lock: it may call it itself.
    virtual void run_now() noexcept = 0;

  protected:
    ~WakeupScheduler() = default;
};

// A waiter holds a place, not a time: each opening lets waiters go in the counter queue's fair
// order (FairQueue), as many as admit() lets pass. A request whose counter has a queue joins it,
// even if a count is free for a moment: no request overtakes. When another of its limits refuses a
// waiter, it moves to that one's queue and keeps its deadline, or is refused where that limit does
// not wait.
//
// One lock for all queues, because a waiter moves between them; limits without waiters never take
// it. It is taken before any shard's lock. Threads: any.
class AdmissionQueue {
  public:
    explicit AdmissionQueue(WakeupScheduler& scheduler) : scheduler_{scheduler} {}
    AdmissionQueue(const AdmissionQueue&) = delete;
    AdmissionQueue& operator=(const AdmissionQueue&) = delete;
    ~AdmissionQueue(); // requires: no waiters

    enum class Entered : std::uint8_t { admitted, refused, waiting };
    // Admits, refuses (in both cases waiter.decision says how, at once) or queues a request: then
    // its mailbox is notified of the decision. It is refused by a limit that does not wait, or if
    // there is no place: `max_waiting` are there, or its turn would come after max_wait. Throws
    // std::bad_alloc with nothing changed.
    [[nodiscard]] Entered enter(Waiter& waiter, const Now& now);

    // The answer of preview().
    struct Preview {
        Entered outcome;
        Decision decision{};        // as enter() would give it; none if the waiter would wait
        Duration wait{};            // if it would wait: about so long
        std::size_t waited_for = 0; // if it would wait: index of the charge
    };
    // Returns what enter() would answer such a waiter now. Enters, charges and counts nothing, and
    // wakes no waiter: the permit is empty, and states are as they stay. states has room for as
    // many as there are charges. The wait is until its turn in the fair order as it stands; before
    // a cap it is an estimate: a slot is freed about every so often. With max_wait zero the request
    // is refused where it would have to wait; enter() may queue it until the next open(). Throws as
    // limits::preview().
    [[nodiscard]] Preview preview(
        std::span<const Charge> charges,
        std::span<const WaitTerms> terms,
        const Now& now,
        std::span<ChargeState> states);

    // Removes a waiter. An admission that was not collected yet is undone: its slots are free, its
    // charges go back to their windows. Idempotent.
    void leave(Waiter& waiter, const Now& now) noexcept;

    // Admits waiters that may go now, refuses those whose deadline has come, and notifies each
    // mailbox with news once. Returns when to call it next (SteadyTime::max(): when the scheduler
    // says).
    SteadyTime open(const Now& now) noexcept;

    // Collects all waiters that were decided for this mailbox, in the order of the decisions. From
    // then on they are the caller's.
    void collect(Mailbox& mailbox, Waiters& into) noexcept;

    // Reports that a slot or a charge was given back. Call after Limit::awaited() was true, and
    // without any lock that Mailbox::notify() could want.
    void freed(Limit& limit, Hash128 key) noexcept;
    // Applies a configuration's new numbers: waiters get them, and those that may go by them do so
    // at the next open(). numbers must not throw.
    void update_quota(Limit& limit, const NumbersOf& numbers) noexcept;

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
    // Returns the queue that a newcomer has to join even if its counter has room. Nothing: admit()
    // decides. That is also the result for a newcomer that would wait in vain and lengthen the
    // turns of others.
    [[nodiscard]] Occupied
    line_to_join(std::span<const Charge> charges, std::span<const WaitTerms> terms, const Now& now);
    // Returns the first occupied queue of the charges from that one on.
    [[nodiscard]] Occupied occupied_line(
        std::span<const Charge> charges,
        std::span<const WaitTerms> terms,
        std::size_t from) noexcept;
    // Returns true if the limit that refused waits. Not for a table full of other keys, nor for too
    // high a cost.
    [[nodiscard]] static bool
    may_wait(std::span<const WaitTerms> terms, const Decision& refused) noexcept;
    // Returns the refusal of a waiter that has no place; wait: until its turn behind all others.
    [[nodiscard]] static Decision
    without_place(const CounterQueue& line, std::size_t at, Duration wait) noexcept;
    [[nodiscard]] CounterQueue& line_of(const Charge& charge);
    // refused_for: the answer that the queue's counter has just given it; nothing if it was not
    // asked.
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
    // Files a queue under its due time after any change, at once if its first waiter is another by
    // now; drops it when it is empty.
    void file(CounterQueue& line) noexcept;
    void unfile(CounterQueue& line) noexcept;
    void take_in(Waiter& waiter) noexcept;
    void let_out(Waiter& waiter) noexcept;
    void announce() noexcept;
    [[nodiscard]] bool is_news() noexcept;
    void ring_all() noexcept;

    WakeupScheduler& scheduler_;
    std::mutex mutex_;
    std::map<CounterId, CounterQueue> lines_; // none is empty
    boost::intrusive::multiset<CounterQueue, boost::intrusive::compare<Sooner>> by_due_;
    boost::intrusive::list<Mailbox> to_ring_;
    SteadyTime announced_ = SteadyTime::max();
    std::uint64_t arrivals_ = 0;
};

} // namespace stint::limits
