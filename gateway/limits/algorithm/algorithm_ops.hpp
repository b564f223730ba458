// An algorithm as functions over one counter's cell: check, charge, give back, report. Pure: no
// lock, no table, no clock of its own.
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
    std::uint64_t burst; // a token bucket's
    std::uint64_t cost;  // at least 1
    bool pace;
    std::uint64_t reserved_for_others; // part of a fixed window's quota that this charge cannot use
    Duration late;                     // Charge::late
    Duration per;                      // zero for a cap
    const ClockWindow* clock; // the open window that all counters share; nullptr: each has its own
    // Token buckets: `used` ns have been given back to this counter; `stamp`: the instant (steady,
    // ns) from which on no receipt asks for it. nullptr: nothing has been given back. give_back()
    // adds to it, unless is_last().
    CounterCell* returned;

    // Returns the highest cost that these numbers ever admit.
    [[nodiscard]] std::uint64_t most_cost(Algorithm algorithm) const noexcept {
        return algorithm != Algorithm::token_bucket || pace ? quota : quota > 0 ? burst : 0;
    }
};

struct Verdict {
    Refusal refusal = Refusal::none;
    Duration wait{}; // until it would be another; Duration::max() = it never will be
};

// Every function takes a cell in any state: a spent one, or CounterCell{}, is a counter without
// charges.
struct AlgorithmOps {
    // A cap's wait is left to the caller, which knows how long its slots are held.
    Verdict (*check)(const CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;
    // Requires: check() has just admitted it.
    Receipt (*charge)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;
    // Gives terms.cost of the receipt's charge back, if that is still counted: in the very window
    // that it was charged to. Requires: no more than was charged and not given back before;
    // terms.quota is the receipt's. Changes the receipt's mark where later calls need it.
    void (*give_back)(CounterCell&, const ChargeTerms&, Receipt&, SteadyTime now) noexcept;
    CounterState (*state)(const CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;

    // Takes up, before check(), a quota higher than the one a counter was charged by; returns by
    // how many ns that brings its end forward. Only for counters that are paid off in time,
    // otherwise nullptr.
    std::int64_t (*raise)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept = nullptr;
    // Pays (likewise) what is owed by a lower quota from `now` on, if that is no more than the
    // burst. More than that goes on being paid by the former quota: until it is no more, nothing is
    // admitted.
    void (*lower)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept = nullptr;
    // Returns (likewise) whether no other charge is owed for longer than the receipt's.
    bool (*is_last)(const CounterCell&, const ChargeTerms&, const Receipt&) noexcept = nullptr;

    // For cells that own memory (otherwise both are nullptr). prepare(): after check(), makes room
    // for charge(), which then cannot fail; false if there is no memory. discard(): called before
    // the cell is given to another key, or vanishes.
    bool (*prepare)(CounterCell&, const ChargeTerms&) noexcept = nullptr;
    void (*discard)(CounterCell&) noexcept = nullptr;

    // Saves a live cell without a clock's window as bytes whose every instant is an std::int64_t of
    // steady ns; not for a cap. load() restores such a cell, every instant moved by `shift` and
    // none later than it could be at `now`: CounterCell{} if the bytes are nonsense or there is no
    // memory.
    void (*save)(const CounterCell&, std::string& to) = nullptr;
    CounterCell (*load)(ByteReader& from, Duration shift, Duration per, SteadyTime now) = nullptr;
};

[[nodiscard]] const AlgorithmOps& ops_of(Algorithm algorithm) noexcept;

extern const AlgorithmOps fixed_window_ops;
extern const AlgorithmOps sliding_window_ops;
extern const AlgorithmOps token_bucket_ops;
extern const AlgorithmOps concurrency_ops;

} // namespace stint::limits
