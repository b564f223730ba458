// Where requests wait for their turn before limits that say `when_exceeded: wait`: a line before
// each counter that refuses, shared by all workers. Chooses; wakes nobody itself.
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
#include <utility>

namespace stint::limits {

// Who sees to it that open() is called in time.
class WakeupScheduler {
  public:
    // open() is to be called at `at` (at once, if that is past); replaces what was said before,
    // which was later. Any thread, with the room's lock held: it must not call back.
    virtual void schedule(SteadyTime at) noexcept = 0;
    // open() is to be called now. Any thread, without the room's lock: it may call it itself.
    virtual void run_now() noexcept = 0;

  protected:
    ~WakeupScheduler() = default;
};

// A waiter holds a place, not a time: who goes is chosen at each opening, in the line's fair order
// (FairQueue), as many as admit() lets pass. A request whose counter has a line joins it, also when
// a count is free for a moment: nobody overtakes. When another of its limits refuses a waiter, it
// moves on to that one's line and keeps its deadline, or is refused where that limit does not wait.
//
// One lock for all lines, because a waiter moves between them; limits that nobody waits for never
// take it. It is taken before any shard's lock. Threads: any.
class AdmissionQueue {
  public:
    explicit AdmissionQueue(WakeupScheduler& scheduler) : scheduler_{scheduler} {}
    AdmissionQueue(const AdmissionQueue&) = delete;
    AdmissionQueue& operator=(const AdmissionQueue&) = delete;
    ~AdmissionQueue(); // requires: nobody waits

    enum class Entered : std::uint8_t { admitted, refused, waiting };
    // Admits, refuses (in both cases waiter.decision says how, at once) or lets it wait: then its
    // mailbox rings when it has been decided. A refusal is one of a limit that does not wait, or
    // there is no place: `max_waiting` are there, or its turn would come after max_wait. Throws
    // std::bad_alloc with nothing changed.
    [[nodiscard]] Entered enter(Waiter& waiter, const Now& now);

    // Gives its place up. If it has been admitted meanwhile and nobody has collected it, it is as
    // if it had not: its slots are free, its charges go back to their windows. Idempotent.
    void leave(Waiter& waiter, const Now& now) noexcept;

    // Lets go whoever may go now, refuses those whose deadline has come, rings each mailbox that
    // has got something once. When it is to be called next (SteadyTime::max(): when the bell says).
    SteadyTime open(const Now& now) noexcept;

    // All that were decided for this mailbox, in the order of the decisions. From then on they are
    // the caller's.
    void collect(Mailbox& mailbox, Waiters& into) noexcept;

    // A slot or a charge was given back. Call after Limit::awaited() was true, and without any lock
    // that Mailbox::notify() could want.
    void freed(Limit& limit, Hash128 key) noexcept;
    // The configuration's numbers have changed: those who wait get the new ones, and whoever may go
    // by them goes at the next open(). numbers must not throw.
    void update_quota(Limit& limit, const NumbersOf& numbers) noexcept;

  private:
    struct Sooner {
        bool operator()(const CounterQueue& a, const CounterQueue& b) const noexcept {
            return a.filed_for < b.filed_for;
        }
    };
    static constexpr std::size_t from_first = static_cast<std::size_t>(-1);

    // What it was granted; whether the bell is to be told.
    [[nodiscard]] std::pair<Permit, bool> take_out(Waiter& waiter) noexcept;
    [[nodiscard]] CounterQueue* occupied_line(Waiter& waiter, std::size_t after) noexcept;
    [[nodiscard]] CounterQueue& line_of(const Charge& charge);
    // refused_for: what that line's counter has just answered it; nothing if it was not asked.
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
    // After any change: under its due time, at once where another is the first by now; drops it
    // when it is empty.
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
