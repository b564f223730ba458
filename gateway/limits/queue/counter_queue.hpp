// The queue before one counter: its waiters, the instant at which it opens, and the waiters whose
// deadline comes first. Internal to limits/: AdmissionQueue drives it under its lock.
#pragma once

#include "limits/queue/fair_queue.hpp"
#include "limits/queue/waiter.hpp"

#include <boost/intrusive/set.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stint::limits {

struct CounterId {
    Limit* limit = nullptr;
    Hash128 key{}; // zero for a limit without a key

    [[nodiscard]] static CounterId of(Limit& limit, Hash128 key) noexcept {
        return {&limit, limit.keyed() ? key : Hash128{}};
    }
    friend auto operator<=>(const CounterId&, const CounterId&) = default;
};

// How a counter refills: the cost that each opening admits, and the interval between openings.
struct RefillRate {
    std::uint64_t each = 0; // 0: unknown, for a cap
    Duration every{1};
};

// The queue of one counter. A window opens at a known instant for its whole quota, and again every
// `per`. A paced window or a token bucket opens for one unit of cost at a time. (A sliding window
// may admit less, never more.) The queue takes no more waiters than can be admitted within
// max_wait. A cap opens at unknown instants: only max_waiting bounds its queue.
class CounterQueue : public boost::intrusive::set_base_hook<> {
  public:
    CounterQueue(CounterId id, const Charge& charge);

    [[nodiscard]] const CounterId& id() const noexcept { return id_; }
    [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

    // Queues the waiter for charge `at`. Moves waiters that lose their place to `refused`. If the
    // queue is full, the newcomer or the youngest waiter of the heaviest flow loses its place. So
    // does each waiter whose turn comes too late for its deadline with the newcomer in the queue. A
    // newcomer that gets no place, or whose deadline has come already, pushes out no other waiter.
    // Throws std::bad_alloc with nothing changed.
    void join(Waiter& waiter, std::size_t at, const Now& now, Waiters& refused);
    void remove(Waiter& waiter) noexcept;

    [[nodiscard]] Waiter& front() noexcept { return static_cast<Waiter&>(queue_.front()); }
    void pop_front() noexcept; // the front is admitted

    // Records that the counter has refused the first waiter. The counter opens after `wait`; a cap
    // may free a slot about every `wait`.
    void opens_after(Duration wait, const Waiter& refused, const Now& now) noexcept;
    // Records the refusal of a request that is not in this queue.
    void opens_after(Duration wait, std::uint64_t cost, const Now& now) noexcept;
    void open_now() noexcept {
        opens_at_ = SteadyTime::min();
        opens_for_ = 1;
    }
    // Opens the queue if opens_after() was called for another waiter than the present first one, so
    // that this one is tried.
    void open_to_new_front() noexcept;
    [[nodiscard]] bool is_next(const Waiter& waiter) const noexcept {
        return !empty() && &queue_.next() == &waiter;
    }
    [[nodiscard]] bool is_open(const Now& now) const noexcept {
        return opens_at_ <= now.steady && !empty();
    }
    // Moves waiters whose deadline has come to `refused`. Stops after the queue's first waiter,
    // because the next one may then be admitted instead.
    void expire(const Now& now, Waiters& refused) noexcept;
    // Returns when is_open() or expire() may have something to do.
    [[nodiscard]] SteadyTime due() const noexcept;
    // Returns how long the queue has been open, at most the interval between two openings. For a
    // keyed limit zero after that interval: its counter may have been dropped, and other requests
    // admitted.
    [[nodiscard]] Duration late(const Now& now) const noexcept;

    // Returns the time until a newcomer would have its turn behind all waiters here.
    [[nodiscard]] Duration wait_behind_all(std::uint64_t cost, const Now& now) const noexcept {
        return time_until(queue_.cost() + cost, now);
    }
    // A newcomer's place in the fair order.
    struct Place {
        bool free = false; // false: cannot wait, the queue is full, or the turn comes too late
        Duration wait{};   // until its turn; if not free: as wait_behind_all()
    };
    // Returns the place that join() would give the newcomer, and leaves the queue as it is. A
    // newcomer that cannot wait has no place. Throws std::bad_alloc.
    [[nodiscard]] Place preview(Waiter& newcomer, std::size_t at, const Now& now);

    // The due() by which AdmissionQueue has sorted this queue among others; due() may have changed
    // since.
    SteadyTime filed_for{};

    // Sets the refill rate by the counter's present share (Limit::share), if it has one.
    void take_up_share(const Now& now) noexcept;
    // Gives the limit's new quota and burst to all waiters that have a charge on it.
    void update_quota(
        const Limit& limit, const NumbersOf& numbers, std::optional<bool> enforce) noexcept;

  private:
    struct Earlier {
        bool operator()(const Waiter& a, const Waiter& b) const noexcept {
            return a.deadline_ < b.deadline_;
        }
    };

    class Trial;
    // The state of the queue before a newcomer was queued.
    struct Before {
        FairQueue::Standing standing; // the newcomer's flow compared with the heaviest other one
        bool full;
        FairQueue::CostRange costs;
        RefillRate refill_rate;
    };

    [[nodiscard]] bool is_cap() const noexcept { return refill_rate_.each == 0; }
    // Returns the cost that can be admitted until `deadline`, that instant included.
    [[nodiscard]] std::uint64_t places_until(SteadyTime deadline, const Now& now) const noexcept;
    // Returns the time until that cost has been admitted from now on.
    [[nodiscard]] Duration time_until(std::uint64_t cost, const Now& now) const noexcept;
    // Queues the newcomer, and sets the refill rate by the newcomer's charge.
    Before stand(Waiter& newcomer, std::size_t at, const Now& now);
    // Returns the waiters that lose their place to the newcomer, which is queued already; only the
    // newcomer, if it gets no place.
    [[nodiscard]] Waiters losers(Waiter& newcomer, const Before& before, const Now& now) noexcept;
    [[nodiscard]] Waiters
    losers_of_walk(Waiter& newcomer, Waiter* one_too_many, const Now& now) noexcept;
    void sign_off(Waiter& waiter) noexcept;
    void refuse(Waiter& waiter, Waiters& refused) noexcept;

    const CounterId id_;
    FairQueue queue_;
    boost::intrusive::multiset<
        Waiter,
        boost::intrusive::base_hook<ByDeadline>,
        boost::intrusive::compare<Earlier>>
        deadlines_;
    SteadyTime opens_at_ = SteadyTime::max();
    Duration wait_{};                // `wait` of the latest opens_after()
    std::uint64_t opens_for_ = 1;    // cost that opens_after() was called for
    std::uint64_t told_arrival_ = 0; // arrival_ of the waiter that opens_after() was called for
    RefillRate refill_rate_;
};

} // namespace stint::limits
