// What one admitted request holds: slots of concurrency caps, and receipts for charges that may yet
// be settled or given back. Destroying it frees the slots and leaves the charges as they are.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>

namespace stint::limits {

class Limit;

// Where a charge was counted, in its algorithm's own terms.
struct Receipt {
    std::int64_t mark = 0; // the window: its end, its serial, its instant
    std::uint64_t cost = 0;
    std::uint64_t quota = 0;   // as it was then
    std::int64_t returned = 0; // what had been given back before, in a token bucket
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
    ~Permit() { drop(); }

    // Frees the slots and teaches each cap how long its slot was held, from which it estimates
    // Retry-After; then as tell(). Idempotent. The destructor does it without teaching.
    void release(const Now& now) noexcept;

    // The same for the slots of charges that are Charge::early; the others stay.
    void release_early(const Now& now) noexcept;

    // The charge with this index (into those given to admit(), Charge::returnable) costs `actual`
    // after all: what it was charged above that goes back to its window, if that is still open.
    // More than it was charged is not counted. Without effect on any other index. Who waits for it
    // does not know yet: see tell().
    void settle(std::size_t index, std::uint64_t actual, const Now& now) noexcept;
    // As if it had never been charged.
    void refund(std::size_t index, const Now& now) noexcept { settle(index, 0, now); }

    // Tells those who wait for what was given back since they were told last. Of all of it at once:
    // whoever is let in by a first part is refused where the second is still missing.
    void notify_waiters() noexcept;

    [[nodiscard]] bool holds_slots() const noexcept { return slots_ > 0; }

  private:
    friend class Admission;

    struct Held {
        Limit* limit;
        Hash128 key;
        Receipt receipt;
        std::uint32_t index; // of the charge
        bool cap;
        bool release_on_upgrade;
        bool untold = false; // something of it was given back, see tell()
    };

    void adapt(bool early_only, const Now& now) noexcept;
    void drop(bool early_only = false) noexcept;

    boost::container::small_vector<Held, 2> held_;
    std::size_t slots_ = 0; // how many of them are caps' and not yet free
    bool untold_ = false;   // any of them
    SteadyTime since_{};
};

} // namespace stint::limits
