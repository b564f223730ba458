// An algorithm: what it answers, keeps and gives back, as functions over one slot. Pure: no lock,
// no table, no clock of its own.
#pragma once

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "limits/algorithm/counter_cell.hpp"
#include "limits/algorithm/window.hpp"
#include "limits/decision.hpp"
#include "limits/spec.hpp"

#include <cstdint>
#include <string>

namespace stint::limits {

// One charge as its algorithm sees it.
struct ChargeTerms {
    std::uint64_t quota;
    std::uint64_t burst; // of a token bucket
    std::uint64_t cost;  // at least 1
    bool pace;
    std::uint64_t reserved_for_others; // of a fixed window's quota: not for this charge
    Duration late;                     // Charge::late
    Duration per;                      // zero for a cap
    const ClockWindow* clock; // the open window that all counters share; nullptr: each has its own
    // Token buckets: `used` ns have been given back to this counter; `stamp`: the instant (steady,
    // ns) from which on no receipt asks for it. nullptr: nothing has. give_back() adds to it,
    // unless is_last().
    CounterCell* returned;
};

struct Verdict {
    Refusal refusal = Refusal::none;
    Duration wait{}; // until it would be another; Duration::max() = it never will be
};

// Every function takes a slot in any state: one that is spent, or Slot{}, is a counter that nothing
// has been charged to.
struct AlgorithmOps {
    // A cap's wait is left to who knows how long its slots are held.
    Verdict (*check)(const CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;
    // Requires: check() has just admitted it.
    Receipt (*charge)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;
    // Gives terms.cost of what the receipt stands for back, if that is still counted: in the very
    // window that it was charged to. Requires: no more than was charged and not given back before;
    // terms.quota is the receipt's. Changes the receipt's mark where it is to be known later.
    void (*give_back)(CounterCell&, const ChargeTerms&, Receipt&, SteadyTime now) noexcept;
    CounterState (*state)(const CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;

    // Where a counter is paid off in time (otherwise nullptr): before check(), takes up a quota
    // that is higher than the one it was charged by; by how many ns that brings its end forward.
    std::int64_t (*raise)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept = nullptr;
    // And (likewise) whether no other charge is owed for longer than the receipt's.
    bool (*is_last)(const CounterCell&, const ChargeTerms&, const Receipt&) noexcept = nullptr;

    // Where a slot owns memory (otherwise both are nullptr). prepare(): after check(), makes room
    // for charge(), which then cannot fail; false if there is no memory. discard(): before the slot
    // is given to another key, or vanishes.
    bool (*prepare)(CounterCell&, const ChargeTerms&) noexcept = nullptr;
    void (*discard)(CounterCell&) noexcept = nullptr;

    // What a live slot without a clock's window says, as bytes whose every instant is an
    // std::int64_t of steady ns; not of a cap. load() makes such a slot anew, every instant moved
    // by `shift` and none later than it could be at `now`: Slot{} if the bytes are nonsense or
    // there is no memory.
    void (*save)(const CounterCell&, std::string& to) = nullptr;
    CounterCell (*load)(ByteReader& from, Duration shift, Duration per, SteadyTime now) = nullptr;
};

[[nodiscard]] const AlgorithmOps& ops_of(Algorithm algorithm) noexcept;

extern const AlgorithmOps fixed_window_ops;
extern const AlgorithmOps sliding_window_ops;
extern const AlgorithmOps token_bucket_ops;
extern const AlgorithmOps concurrency_ops;

} // namespace stint::limits
