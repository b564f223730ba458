// An algorithm as functions over one counter's cell: check, charge, give back, report. Pure: no
// lock, no table, no clock of its own.
#pragma once

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "limits/algorithm/counter_cell.hpp"
#include "limits/algorithm/window.hpp"
#include "limits/decision.hpp"
#include "limits/share.hpp"
#include "limits/spec.hpp"

#include <cstdint>
#include <string>

namespace stint::limits {

// One charge on one counter, as the argument of an algorithm's functions.
struct ChargeTerms {
    std::uint64_t quota;
    std::uint64_t burst; // for a token bucket
    std::uint64_t cost;  // at least 1
    bool pace;
    std::uint64_t reserved_for_others; // part of a fixed window's quota that this charge cannot use
    Duration late;                     // Charge::late
    Duration per;                      // zero for a cap
    const ClockWindow* clock; // the open window that all counters share; nullptr: each has its own
    // For token buckets: a record of the time given back to this counter, from which a receipt
    // computes until when its charge is owed. `used`: nanoseconds given back so far. `stamp`: the
    // instant (steady, ns) from which no receipt needs the record. nullptr: nothing was given back.
    // give_back() adds to the record, unless the charge is_last().
    CounterCell* returned;

    // Returns the highest cost that these numbers ever admit.
    [[nodiscard]] std::uint64_t most_cost(Algorithm algorithm) const noexcept {
        return algorithm != Algorithm::token_bucket || pace ? quota : quota > 0 ? burst : 0;
    }
};

struct Verdict {
    constexpr Verdict() = default;
    constexpr Verdict(Refusal refused, Duration waits) noexcept : refusal{refused}, wait{waits} {}

    Refusal refusal = Refusal::none;
    ShareLack lack = ShareLack::none; // set by Counters, not by an algorithm
    Duration wait{}; // time until the verdict changes; Duration::max(): it never does
};

// Every function takes a cell in any state: an expired one, or CounterCell{}, is a counter without
// charges.
struct AlgorithmOps {
    // Checks whether the charge fits, without making it. A cap's wait is left zero: the caller
    // knows how long slots are held.
    Verdict (*check)(const CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;
    // Makes the charge. Requires: check() has just admitted it.
    Receipt (*charge)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;
    // Gives terms.cost of the receipt's charge back to the window that was charged, if that still
    // counts. Requires: terms.cost is at most the part of the charge that was not given back
    // before; terms.quota is the receipt's. May change the receipt's mark for later calls.
    void (*give_back)(CounterCell&, const ChargeTerms&, Receipt&, SteadyTime now) noexcept;
    CounterState (*state)(const CounterCell&, const ChargeTerms&, SteadyTime now) noexcept;

    // Call before check(). Adjusts the cell to a quota that is higher than that of its charges, and
    // returns by how many ns its debt is paid off earlier. nullptr for algorithms whose counters
    // are not paid off by time.
    std::int64_t (*raise)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept = nullptr;
    // Adjusts the cell to a lower quota. A debt of at most the burst is paid off at the lower rate
    // from `now` on. A larger debt is first paid off at the former rate, and nothing is admitted
    // meanwhile. nullptr as raise().
    void (*lower)(CounterCell&, const ChargeTerms&, SteadyTime now) noexcept = nullptr;
    // Returns true if no other charge is paid off later than the receipt's. nullptr as raise().
    bool (*is_last)(const CounterCell&, const ChargeTerms&, const Receipt&) noexcept = nullptr;

    // Returns what a cell counts that is no longer charged, whether or not its window is over: for
    // a sliding window, the admissions of its last `per`. nullptr for algorithms without windows.
    std::uint64_t (*counted)(const CounterCell&) noexcept = nullptr;

    // For cells that own memory (otherwise both are nullptr). prepare(): after check(), makes room
    // for charge(), which then cannot fail; false if there is no memory. discard(): called before
    // the cell is given to another key, or vanishes.
    bool (*prepare)(CounterCell&, const ChargeTerms&) noexcept = nullptr;
    void (*discard)(CounterCell&) noexcept = nullptr;

    // save() appends a live cell as bytes. Each instant in them is an std::int64_t of steady ns.
    // Not for a cap, nor for a cell of Anchor::clock. load() restores the cell: it moves every
    // instant by `shift`, for a window at most to the latest that is possible at `now`. It returns
    // CounterCell{} if the bytes are nonsense or there is no memory.
    void (*save)(const CounterCell&, std::string& to) = nullptr;
    CounterCell (*load)(ByteReader& from, Duration shift, Duration per, SteadyTime now) = nullptr;
};

[[nodiscard]] const AlgorithmOps& ops_of(Algorithm algorithm) noexcept;

extern const AlgorithmOps fixed_window_ops;
extern const AlgorithmOps sliding_window_ops;
extern const AlgorithmOps token_bucket_ops;
extern const AlgorithmOps concurrency_ops;

} // namespace stint::limits
