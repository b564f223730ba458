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

// All reserved slots of one limit, by counter. They live as long as the limit does, also over
// reloads. While most_slots slots are reserved, no other is given. One lock for all counters, taken
// before any shard's lock and, for several limits, in rising order of their ordinals.
// admit_reserving(), preview_reserving() and out() take it. Threads: any.
class Reservations {
  public:
    static constexpr std::size_t most_slots = 65'536;
    // How far ahead a slot may be: no client comes back after years.
    static constexpr Duration farthest = std::chrono::days{366};

    [[nodiscard]] std::size_t out(SteadyTime now); // slots that may still be claimed
    // Totals of slots given and claimed. missed(): refusals without a slot, because too many are
    // reserved, there is no memory, or the slot would be too far ahead.
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

    // Call with mutex_ locked.
    [[nodiscard]] SlotLedger* ledger_of(Hash128 key, SteadyTime now) noexcept;
    // Returns the number of the new slot; 0 if none is given.
    [[nodiscard]] std::uint64_t
    give(Hash128 key, const SlotLedger::Slot& slot, SteadyTime now) noexcept;
    void take(Hash128 key, std::uint64_t number) noexcept; // no effect if the slot is gone
    void sweep(SteadyTime now) noexcept;

    std::mutex mutex_;
    Ledgers ledgers_; // no ledger here is empty
    std::size_t out_ = 0;
    std::uint64_t last_number_ = 0; // last slot number, over all ledgers
    SteadyTime latest_{};           // latest `now` of any request
    SteadyTime next_sweep_{};
    std::atomic<std::uint64_t> given_{0};
    std::atomic<std::uint64_t> claimed_{0};
    std::atomic<std::uint64_t> missed_{0};
};

// A request's reservation in one limit with `retry_after: reserve`.
struct Reservation {
    // Index into the request's charges. The charge is that of an enforced fixed-window limit whose
    // requests are not spread over the window (Charge::pace is false).
    std::size_t charge = 0;
    Hash128 client{};         // owner of the slot; finds it if the request presents no number
    std::uint64_t ticket = 0; // slot number that the request presents; 0 = none
    std::uint64_t slot = 0;   // result: the number of a refused request's slot; 0 = none
};

// Decides as admit() for a request with limits that reserve.
//  - A request without a slot that may be claimed now is admitted only to the room that is not held
//    for slots: the quota less the slots that may still be claimed before the open window ends. A
//    request with such a slot (by the slot's number, else its client's earliest) is admitted to the
//    whole quota, and uses the slot up. If the request costs more than its slot, room is still held
//    for the others' slots. The quota is never exceeded.
//  - If such a limit refuses the request because its window is used up or held (Refusal::window),
//    the request gets a slot in each of these limits, all at one instant and none within an open
//    window. retry_after leads there. A request that came too early for its own slots keeps them; a
//    slot that did not help is exchanged for the new one.
//  - The slots of one client in one counter cost `quota` at most. Beyond that, and if no slot can
//    be given, retry_after is when the next slot would have been.
// Changes Charge::reserved_for_others. reserving: in rising order of their charges; may be empty.
// Requires: every charge on these limits goes through this function. Otherwise as admit().
[[nodiscard]] Decision admit_reserving(
    std::span<Charge> charges,
    std::span<Reservation> reserving,
    const Now& now,
    std::span<ChargeState> states = {});

// Decides like admit_reserving(), but charges, counts, claims and gives nothing: the permit is
// empty, each Reservation::slot is 0, and `states`, with room for one per charge, gets the
// counters' present states. A refusal's retry_after leads to the instant of the slots that
// admit_reserving() would give, or let the request keep. May drop slots that are over. Changes
// charges as admit_reserving() does. Otherwise as admit_reserving().
[[nodiscard]] Decision preview_reserving(
    std::span<Charge> charges,
    std::span<Reservation> reserving,
    const Now& now,
    std::span<ChargeState> states);

} // namespace stint::limits
