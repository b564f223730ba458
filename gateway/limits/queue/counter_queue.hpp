// The line before one counter: who stands in it, when it opens, and for whom that is too late.
// Internal to limits/: AdmissionQueue drives it under its lock.
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

    friend auto operator<=>(const CounterId&, const CounterId&) = default;
};

// What a counter admits when it opens, and how often it does.
struct RefillRate {
    std::uint64_t each = 0; // nobody knows: a cap
    Duration every{1};
};

// A window opens for its number at an instant that is known, and again every `per` after it; a
// paced one, and a token bucket, for one at a time. (A sliding window may let fewer go, never
// more.) Places in the line are bounded by what can be admitted within max_wait. When a cap opens
// nobody knows; its places are bounded by max_waiting alone.
class CounterQueue : public boost::intrusive::set_base_hook<> {
  public:
    CounterQueue(CounterId id, const Charge& charge);

    [[nodiscard]] const CounterId& id() const noexcept { return id_; }
    [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

    // Gives the waiter a place for charge `at`, and moves to `refused` whoever has none any more:
    // the newcomer itself, or the youngest of the heaviest flow where it was one too many, and
    // those whom it pushes past the last opening before their deadline. One that has no place, or
    // cannot wait, pushes nobody out. Throws std::bad_alloc with nothing changed.
    void join(Waiter& waiter, std::size_t at, const Now& now, Waiters& refused);
    void remove(Waiter& waiter) noexcept;

    [[nodiscard]] Waiter& front() noexcept { return static_cast<Waiter&>(queue_.front()); }
    void pop_front() noexcept; // it goes

    // What the counter said when it refused that one, who is the first: it opens `wait` later, or,
    // for a cap, one may be freed about every `wait`.
    void opens_after(Duration wait, const Waiter& refused, const Now& now) noexcept;
    void open_now() noexcept { opens_at_ = SteadyTime::min(); }
    // opens_after() was told for a waiter that is not the first any more: the new first one is
    // tried.
    void open_to_new_front() noexcept;
    [[nodiscard]] bool is_next(const Waiter& waiter) const noexcept {
        return !empty() && &queue_.next() == &waiter;
    }
    [[nodiscard]] bool is_open(const Now& now) const noexcept {
        return opens_at_ <= now.steady && !empty();
    }
    // Moves those to `refused` whose deadline has come, up to the first in line: who is the first
    // then may go.
    void expire(const Now& now, Waiters& refused) noexcept;
    // When is_open() or expire() may have something to do.
    [[nodiscard]] SteadyTime due() const noexcept;
    // For how long it has been open; at most until it would have opened again. A key's counter is
    // forgotten by then, and with it whether somebody else has gone: nothing.
    [[nodiscard]] Duration late(const Now& now) const noexcept;

    // How long it takes until one who comes now would have his turn behind all who stand here.
    [[nodiscard]] Duration wait_behind_all(std::uint64_t cost, const Now& now) const noexcept;

    // When it was due() as AdmissionQueue filed it; it may be due sooner or later by now.
    SteadyTime filed_for{};

    // Those who wait here and count against the limit get its new numbers.
    void update_quota(const Limit& limit, const NumbersOf& numbers) noexcept;

  private:
    struct Earlier {
        bool operator()(const Waiter& a, const Waiter& b) const noexcept {
            return a.deadline_ < b.deadline_;
        }
    };

    [[nodiscard]] bool is_cap() const noexcept { return refill_rate_.each == 0; }
    // What can be admitted until `deadline`, that instant included.
    [[nodiscard]] std::uint64_t places_until(SteadyTime deadline, const Now& now) const noexcept;
    void sign_off(Waiter& waiter) noexcept;
    void refuse(Waiter& waiter, Waiters& refused) noexcept;
    void
    make_place(Waiter& newcomer, Waiter* one_too_many, const Now& now, Waiters& refused) noexcept;

    const CounterId id_;
    FairQueue queue_;
    boost::intrusive::multiset<
        Waiter,
        boost::intrusive::base_hook<ByDeadline>,
        boost::intrusive::compare<Earlier>>
        deadlines_;
    SteadyTime opens_at_ = SteadyTime::max();
    Duration wait_{};                // as of opens_after()
    std::uint64_t told_arrival_ = 0; // of whom it was told
    RefillRate refill_rate_;
};

} // namespace stint::limits
