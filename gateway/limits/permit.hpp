// The holdings of one admitted request: slots of concurrency caps, and receipts for charges that
// may yet be settled or refunded. Destroying it frees the slots and leaves the charges as they are.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace stint::limits {

class Limit;
class SharedCounters;
struct Charge;

// The place where a charge was counted, in its algorithm's own terms.
struct Receipt {
    std::int64_t mark = 0; // identifies the window: its end, serial or instant
    std::uint64_t cost = 0;
    std::uint64_t quota = 0;   // the quota at the time of the charge
    std::int64_t returned = 0; // amount given back before, in a token bucket
    bool overflow = false;     // counted in the overflow sketch: mark and returned are its own
};

// Move-only. The limits it points to must outlive it (a request keeps its snapshot, which owns
// them). Threads: one owner at a time; everything here may race with any admission.
class Permit {
  public:
    Permit() = default;
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&& other) noexcept;
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit() {
        if (!held_.empty())
            drop();
    }

    // Frees the slots and teaches each cap how long its slot was held, from which it estimates
    // Retry-After; then calls notify_waiters(). Idempotent. The destructor does it without
    // teaching.
    void release(const Now& now) noexcept;

    // Does the same for slots of charges with Charge::release_on_upgrade only.
    void release_early(const Now& now) noexcept;

    // Sets the final cost of charge `index` (into those given to admit(), Charge::refundable): the
    // excess goes back to its window, if that is still open. More than it was charged is not
    // counted. No effect on any other index. Does not wake waiters: see notify_waiters().
    void settle(std::size_t index, std::uint64_t actual, const Now& now) noexcept;
    // Undoes the charge, as if it had never been made.
    void refund(std::size_t index, const Now& now) noexcept { settle(index, 0, now); }

    // Wakes waiters for what was given back since the last call. For all of it at once: a waiter
    // woken for a first part would be refused where the second is still missing.
    void notify_waiters() noexcept;

    // Adds granted charges of shared counters, which a settle() and the end of a slot then give
    // back to. Their store outlives the permit. Throws std::bad_alloc with nothing changed.
    struct SharedPart {
        std::size_t first = 0;         // this permit's index of the first charge
        std::uint32_t not_charged = 0; // bit i: charge i was not charged
    };
    void hold_shared(
        SharedCounters& store,
        std::uint64_t number,
        std::span<const Charge> charges,
        const SharedPart& part,
        const Now& now);
    // Takes over all that another permit holds; its charge i gets the index indexes[i]. Throws
    // std::bad_alloc with nothing changed.
    void absorb(Permit&& other, std::span<const std::uint32_t> indexes);

    [[nodiscard]] bool holds_slots() const noexcept { return slots_ > 0; }

  private:
    friend class Admission;

    struct Held {
        Limit* limit;
        Hash128 key;
        Receipt receipt;
        std::uint32_t index; // the charge's index
        bool cap;
        bool release_on_upgrade;
        bool untold = false; // given back in part, waiters not woken yet
        // If not null: the receipt's mark is the request's number there, `returned` the charge's
        // index.
        SharedCounters* store = nullptr;
    };

    void adapt(bool early_only, const Now& now) noexcept;
    void drop(bool early_only = false) noexcept;
    static void give_back(Held& held, std::uint64_t cost, SteadyTime now) noexcept;

    boost::container::small_vector<Held, 2> held_;
    std::size_t slots_ = 0; // caps' slots among them that are not yet free
    bool untold_ = false;   // true if any of them is `untold`
    SteadyTime since_{};
};

} // namespace stint::limits
