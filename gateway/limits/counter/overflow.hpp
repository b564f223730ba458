// The counters of keys for which a shard's table has no room. One for each kind of algorithm.
#pragma once

#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/counter/sketch.hpp"

#include <memory>
#include <variant>

namespace stint::limits {

// Guarded by its shard's mutex. It refuses every charge that exact counters would refuse, and
// perhaps more. For a paced limit it enforces the quota but not the pace.
class Overflow {
  public:
    // nullptr if there is no memory. About 2.5 KiB (a cap, a bucket: 0.5 KiB) for each 16 cells of
    // `width`.
    [[nodiscard]] static std::unique_ptr<Overflow>
    make(Algorithm algorithm, Duration per, std::size_t width) noexcept;

    // Before any other call.
    void advance(SteadyTime now, const ChargeTerms& terms) noexcept;
    // True if it still counts anything for the key (or for keys that collide with it).
    [[nodiscard]] bool holds(Hash128 key, SteadyTime now) const noexcept;
    [[nodiscard]] Verdict
    check(Hash128 key, const ChargeTerms& terms, SteadyTime now) const noexcept;
    Receipt charge(Hash128 key, const ChargeTerms& terms, SteadyTime now) noexcept;
    void give_back(Hash128 key, const Receipt& receipt, std::uint64_t cost) noexcept;
    [[nodiscard]] CounterState
    state(Hash128 key, const ChargeTerms& terms, SteadyTime now) const noexcept;
    [[nodiscard]] std::uint64_t in_flight() const noexcept { return in_flight_; }

  private:
    Overflow(Algorithm algorithm, Duration per, std::size_t width) noexcept;
    [[nodiscard]] CounterCell slot_of(Hash128 key) const noexcept;

    Algorithm algorithm_;
    const AlgorithmOps& rules_;
    std::variant<WindowSketch, SketchCells> sketch_; // cells: a bucket's TAT, a cap's slots
    std::uint64_t in_flight_ = 0;                    // a cap's
};

} // namespace stint::limits
