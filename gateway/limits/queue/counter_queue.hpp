// The queue before one counter: its waiters, the instant at which it opens, and the waiters whose
// deadline comes first. Internal to limits/: AdmissionQueue drives it under its lock.
#pragma once

#include "limits/queue/fair_queue.hpp"
#include "limits/queue/waiter.hpp"

#include <boost/intrusive/set.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>

namespace stint::limits {

struct CounterId {
    Limit* limit = nullptr;
    Hash128 key{}; // nothing for a limit without a key

    [[nodiscard]] static CounterId of(Limit& limit, Hash128 key) noexcept {
        return {&limit, limit.keyed() ? key : Hash128{}};
    }
    friend auto operator<=>(const CounterId&, const CounterId&) = default;
};

// A counter's admissions at each opening, and the interval between openings.
struct RefillRate {
    std::uint64_t each = 0; // 0: unknown, a cap
    Duration every{1};
};

// A window opens for its quota at a known instant, and again every `per` after it; a paced one, and
// a token bucket, for one request at a time. (A sliding window may let fewer go, never more.)
// Places in the queue are bounded by what can be admitted within max_wait. A cap opens at unknown
// instants; its places are bounded by max_waiting alone.
class CounterQueue : public boost::intrusive::set_base_hook<> {
  public:
    CounterQueue(CounterId id, const Charge& charge);

    [[nodiscard]] const CounterId& id() const noexcept { return id_; }
    [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

    // Queues the waiter for charge `at`, and moves waiters without a place to `refused`: the
    // newcomer itself, or the youngest of the heaviest flow if it was one too many, and those that
    // the newcomer pushes past the last opening before their deadline. A newcomer that gets no
    // place, or cannot wait, pushes out no other. Throws std::bad_alloc with nothing changed.
    void join(Waiter& waiter, std::size_t at, const Now& now, Waiters& refused);
    void remove(Waiter& waiter) noexcept;

    [[nodiscard]] Waiter& front() noexcept { return static_cast<Waiter&>(queue_.front()); }
    void pop_front() noexcept; // the front is admitted

    // Records the counter's refusal of the first waiter: it opens `wait` later, or, for a cap, a
    // slot may be freed about every `wait`.
    void opens_after(Duration wait, const Waiter& refused, const Now& now) noexcept;
    // Records the refusal of a request that is not in this queue.
    void opens_after(Duration wait, std::uint64_t cost, const Now& now) noexcept;
    void open_now() noexcept {
        opens_at_ = SteadyTime::min();
        opens_for_ = 1;
    }
    // Opens the queue if its first waiter is not the one of opens_after() any more: the new first
    // one is tried.
    void open_to_new_front() noexcept;
    [[nodiscard]] bool is_next(const Waiter& waiter) const noexcept {
        return !empty() && &queue_.next() == &waiter;
    }
    [[nodiscard]] bool is_open(const Now& now) const noexcept {
        return opens_at_ <= now.steady && !empty();
    }
    // Moves waiters whose deadline has come to `refused`, up to the first in the queue: the next
    // first one may go then.
    void expire(const Now& now, Waiters& refused) noexcept;
    // Returns when is_open() or expire() may have something to do.
    [[nodiscard]] SteadyTime due() const noexcept;
    // Returns for how long the queue has been open, at most the interval between two openings.
    // After that interval a keyed limit returns zero: its counter may have been forgotten, and
    // other requests admitted.
    [[nodiscard]] Duration late(const Now& now) const noexcept;

    // Returns the time until a newcomer would have its turn behind all waiters here.
    [[nodiscard]] Duration wait_behind_all(std::uint64_t cost, const Now& now) const noexcept {
        return time_until(queue_.cost() + cost, now);
    }
    // A newcomer's place in the fair order.
    struct Place {
        bool free = false; // false: it cannot wait, too many do, or its turn would come too late
        Duration wait{};   // until its turn; if not free: as wait_behind_all()
    };
    // Returns the place that join() would give the waiter, and leaves the queue as it is. A waiter
    // that cannot wait has none. Throws std::bad_alloc.
    [[nodiscard]] Place preview(Waiter& newcomer, std::size_t at, const Now& now);

    // The due() time as AdmissionQueue filed it; it may be due sooner or later by now.
    SteadyTime filed_for{};

    // Counts openings by the share that the counter has by now, if any.
    void take_up_share(const Now& now) noexcept;
    // Gives waiters that count against the limit its new numbers.
    void update_quota(const Limit& limit, const NumbersOf& numbers) noexcept;

  private:
    struct Earlier {
        bool operator()(const Waiter& a, const Waiter& b) const noexcept {
            return a.deadline_ < b.deadline_;
        }
    };

    class Trial;
    // The queue as it was before a newcomer stood in it.
    struct Before {
        FairQueue::Standing standing; // the newcomer's
        bool full;
        FairQueue::CostRange costs;
        RefillRate refill_rate;
    };

    [[nodiscard]] bool is_cap() const noexcept { return refill_rate_.each == 0; }
    // Returns the cost that can be admitted until `deadline`, that instant included.
    [[nodiscard]] std::uint64_t places_until(SteadyTime deadline, const Now& now) const noexcept;
    // Returns the time until that cost has been admitted from now on.
    [[nodiscard]] Duration time_until(std::uint64_t cost, const Now& now) const noexcept;
    // Queues the newcomer, and gives it the numbers that its limit has now.
    Before stand(Waiter& newcomer, std::size_t at, const Now& now);
    // Returns those that lose their place to the newcomer, which stands here; or the newcomer
    // alone, if it gets none.
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
    Duration wait_{};                // as of opens_after()
    std::uint64_t opens_for_ = 1;    // cost of the waiter in opens_after()
    std::uint64_t told_arrival_ = 0; // arrival_ in opens_after()
    RefillRate refill_rate_;
};

} // namespace stint::limits
