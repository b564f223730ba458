// Slots in coming windows for requests that a fixed window refused: retry_after: reserve.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/limit.hpp"
#include "limits/reservation/slot_ledger.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace stint::limits {

// All slots of one limit, by counter. They live as long as the limit does, so over reloads.
// Bounded: while most_slots are out, none is given. One lock for all counters, taken before any
// shard's and, of several limits, in rising order of their ordinals; only admit_reserving(),
// preview_reserving() and out() take it. Threads: any.
class Reservations {
  public:
    static constexpr std::size_t most_slots = 65'536;
    // The farthest slot ahead: no client comes back in years.
    static constexpr Duration farthest = std::chrono::days{366};

    [[nodiscard]] std::size_t out(SteadyTime now); // slots that may still be claimed
    // Totals. Missed: refusals without a slot: too many out, no memory or too far ahead.
    [[nodiscard]] std::uint64_t given() const noexcept { return given_.load(relaxed); }
    [[nodiscard]] std::uint64_t claimed() const noexcept { return claimed_.load(relaxed); }
    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_.load(relaxed); }

  private:
    friend class ReservingAdmission;
    friend class ClaimedSlots;

    static constexpr auto relaxed = std::memory_order_relaxed;
    struct Spread {
        std::size_t operator()(Hash128 key) const noexcept {
            return static_cast<std::size_t>(key.low);
        }
    };
    using Ledgers = std::unordered_map<Hash128, SlotLedger, Spread>;

    // All with mutex_ locked.
    [[nodiscard]] SlotLedger* ledger_of(Hash128 key, SteadyTime now) noexcept;
    [[nodiscard]] std::uint64_t
    give(Hash128 key, const SlotLedger::Slot& slot, SteadyTime now) noexcept; // 0: none
    void take(Hash128 key, std::uint64_t number) noexcept;                 // if it is still there
    void end_claim(Hash128 key, std::uint64_t number, bool keep) noexcept; // locks
    void sweep(SteadyTime now) noexcept;

    std::mutex mutex_;
    Ledgers ledgers_; // none is empty
    std::size_t out_ = 0;
    std::uint64_t last_number_ = 0; // over all ledgers, so that none is given twice
    SteadyTime latest_{};           // latest arrival
    SteadyTime next_sweep_{};
    std::atomic<std::uint64_t> given_{0};
    std::atomic<std::uint64_t> claimed_{0};
    std::atomic<std::uint64_t> missed_{0};
};

// A request's part in a limit that reserves.
struct Reservation {
    std::size_t charge = 0;   // index of the charge: of a fixed window, enforced, without pace
    Hash128 client{};         // owner of the slot, if claimed without its number
    std::uint64_t ticket = 0; // slot number that the request presents; 0 = none
    std::uint64_t slot = 0;   // result: the number of a refused request's slot; 0 = none
};

// The slots that a request claims, while others have yet to decide about it. Destroyed without a
// keep(), it gives them back to their clients. Not thread-safe. Their limits outlive it.
class ClaimedSlots {
  public:
    ClaimedSlots() = default;
    ClaimedSlots(const ClaimedSlots&) = delete;
    ClaimedSlots& operator=(const ClaimedSlots&) = delete;
    ~ClaimedSlots() { give_back(); }

    // Ends the claims: the slots are gone. Idempotent.
    void keep() noexcept { end(true); }
    // Undoes the claims. Call before the request's charges are refunded: else their room could be
    // another's before it is held again. Idempotent.
    void give_back() noexcept { end(false); }

  private:
    friend class ReservingAdmission;

    struct Slot {
        Reservations* of = nullptr;
        Hash128 key{}; // the counter's
        std::uint64_t number = 0;
    };
    void end(bool keep) noexcept;

    std::vector<Slot> slots_;
};

// Decides as admit() for a request with limits that reserve.
//  - A request without a slot that may be claimed now is admitted to what is not held: the quota
//    less the slots that may still be claimed before the open window ends. A request with one, by
//    its number or else its client's earliest, is admitted to the whole quota (if it costs more
//    than its slot: to what is not held for others), and the slot is gone. The quota is the last
//    word.
//  - A request refused because such a window is used up or held (Refusal::window) gets a slot in
//    each of them at one instant, none within a window that is open; retry_after leads there. A
//    slot that it has and came too early for stays its own; one that did not help is given up for
//    it.
//  - With `claimed` the slots of an admitted request are not gone before ClaimedSlots::keep(); no
//    other request can claim them meanwhile. Requires: it is empty.
//  - The slots of one client before one counter cost `quota` at most. Beyond that, and where there
//    is no slot to be had, retry_after is when the next would have been.
// Changes charges: Charge::reserved_for_others. reserving: in rising order of their charges; at
// least none. Requires: whatever charges these limits does so through this function. Otherwise as
// admit().
[[nodiscard]] Decision admit_reserving(
    std::span<Charge> charges,
    std::span<Reservation> reserving,
    const Now& now,
    std::span<ChargeState> states = {},
    ClaimedSlots* claimed = nullptr);

// Decides like admit_reserving(), but charges, counts, claims and gives nothing: the permit is
// empty, each Reservation::slot is 0, and states are as they stay. A refusal's retry_after leads to
// the instant for which admit_reserving() would give the slots, or to that of slots which the
// request would keep. Slots that are over may be dropped. Changes charges as admit_reserving()
// does. states has room for as many as there are charges. Otherwise as admit_reserving().
[[nodiscard]] Decision preview_reserving(
    std::span<Charge> charges,
    std::span<Reservation> reserving,
    const Now& now,
    std::span<ChargeState> states);

} // namespace stint::limits
