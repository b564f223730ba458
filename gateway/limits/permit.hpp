// The holdings of one admitted request: slots of concurrency caps, and receipts for charges that
// may yet be settled or refunded. Destroying it frees the slots and leaves the charges as they are.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>

namespace stint::limits {

class Limit;
class ReturnListener;
struct Charge;

// The record of a charge, by which it can be given back. `mark` and `returned` depend on the
// algorithm.
struct Receipt {
    std::int64_t mark = 0; // identifies the window: its end, serial or instant
    std::uint64_t cost = 0;
    std::uint64_t quota = 0;   // the quota at the time of the charge
    std::int64_t returned = 0; // for a token bucket: ns given back to it before this charge
    bool overflow = false;     // counted in the overflow sketch, which defines mark and returned
};

// The holdings of one admitted request. Move-only. The limits that a permit refers to must outlive
// it (a request keeps its snapshot, which owns them). Threads: one owner at a time; every function
// may race with any admission.
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

    // Frees the slots, tells each cap how long its slot was held (for its Retry-After estimate),
    // then calls notify_waiters(). Idempotent. The destructor frees the slots without telling the
    // hold time.
    void release(const Now& now) noexcept;

    // Like release(), but only for charges with Charge::release_on_upgrade.
    void release_early(const Now& now) noexcept;

    // Sets the final cost of charge `index` (among the charges given to admit()). The excess is
    // given back to the charge's window, if that is still open. A higher final cost is ignored. No
    // effect on a charge that is not Charge::refundable. Does not wake waiters: see
    // notify_waiters().
    void settle(std::size_t index, std::uint64_t actual, const Now& now) noexcept;
    // Undoes the charge, as if it had never been made.
    void refund(std::size_t index, const Now& now) noexcept { settle(index, 0, now); }

    // Wakes waiters for everything given back since the last call. Call once after several refunds:
    // a waiter woken after the first would be refused by the limit of the second.
    void notify_waiters() noexcept;

    // Reports all that permits of this process give back from now on; nullptr: nothing. Call it
    // while no permit is used. The listener must live until then.
    static void report_returns_to(ReturnListener* listener) noexcept { listener_ = listener; }
    // Gives a part of a window's charge back that another process has made, under this receipt, and
    // whose counts the limit goes on with. Wakes waiters.
    static void give_back_foreign(
        Limit& limit,
        Hash128 key,
        const Receipt& receipt,
        std::uint64_t cost,
        SteadyTime now) noexcept;

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
    };

    void drop(bool early_only = false, const Now* now = nullptr) noexcept;
    static void give_back(Held& held, std::uint64_t cost, SteadyTime now) noexcept;

    inline static ReturnListener* listener_ = nullptr;

    boost::container::small_vector<Held, 2> held_;
    std::size_t slots_ = 0; // caps' slots in held_ that are not freed yet
    bool untold_ = false;   // an entry of held_ is `untold`
    SteadyTime since_{};
};

} // namespace stint::limits
