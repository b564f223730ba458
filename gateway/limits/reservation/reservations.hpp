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

namespace stint::limits {

// All slots of one limit, by counter. They live as long as the limit does, so over reloads.
// Bounded: while most_slots are out, nobody gets another. One lock for all counters, taken before
// any shard's and, of several limits, in rising order of their ordinals; only admit_reserving() and
// out() take it. Threads: any.
class Reservations {
  public:
    static constexpr std::size_t most_slots = 65'536;
    // No slot is further ahead: nobody comes back in years.
    static constexpr Duration farthest = std::chrono::days{366};

    [[nodiscard]] std::size_t out(SteadyTime now); // that may still be claimed
    // Ever. Missed: refusals without one, as there were too many out, no memory or too far ahead.
    [[nodiscard]] std::uint64_t given() const noexcept { return given_.load(relaxed); }
    [[nodiscard]] std::uint64_t claimed() const noexcept { return claimed_.load(relaxed); }
    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_.load(relaxed); }

  private:
    friend class ReservingAdmission;

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
    void take(Hash128 key, std::uint64_t number) noexcept;
    void sweep(SteadyTime now) noexcept;

    std::mutex mutex_;
    Ledgers ledgers_; // none is empty
    std::size_t out_ = 0;
    std::uint64_t last_number_ = 0; // of all ledgers, so that none is ever given twice
    SteadyTime latest_{};           // that anybody came
    SteadyTime next_sweep_{};
    std::atomic<std::uint64_t> given_{0};
    std::atomic<std::uint64_t> claimed_{0};
    std::atomic<std::uint64_t> missed_{0};
};

// What a request is to a limit that reserves.
struct Reservation {
    std::size_t charge = 0;   // index of the charge: of a fixed window, enforced, without pace
    Hash128 client{};         // whose slot it is, when it is claimed without its number
    std::uint64_t ticket = 0; // the slot's number that the request has with it; 0 = none
    std::uint64_t slot = 0; // to be filled in: the number of a refused one's slot; 0 = it has none
};

// admit() for a request with limits that reserve.
//  - Who holds no slot that may be claimed now is admitted to what is not held: the quota without
//    the slots that may still be claimed before the open window ends. Who does, by its number or
//    else the earliest of his client's, is admitted to the whole quota (if he costs more than his
//    slot: to what is not held for others), and the slot is gone. The quota is the last word.
//  - Who is refused because such a window is used up or held (Refusal::window) gets a slot in each
//    of them at one instant, none within a window that is open; retry_after leads there. A slot
//    that he has and came too early for stays his; one that did not help is given up for it.
//  - The slots of one client before one counter cost `quota` at most. Beyond that, and where there
//    is no slot to be had, retry_after is when the next would have been.
// Charges are changed: Charge::held. reserving: in rising order of their charges; at least none.
// Requires: whatever charges these limits does so through this function. Otherwise as admit().
[[nodiscard]] Decision admit_reserving(
    std::span<Charge> charges,
    std::span<Reservation> reserving,
    const Now& now,
    std::span<ChargeState> states = {});

} // namespace stint::limits
