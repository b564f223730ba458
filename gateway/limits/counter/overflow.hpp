// The counters of keys for which a shard's table has no room: a sketch, for any algorithm.
#pragma once

#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/counter/sketch.hpp"

#include <memory>
#include <variant>

namespace stint::limits {

// Refuses every charge that exact counters would refuse, and perhaps more, except that a paced
// window's quota is enforced, but not its pace. Guarded by the shard's mutex.
class Overflow {
  public:
    // Returns nullptr if there is no memory. Takes about 2.5 KiB (0.5 KiB for a cap or a bucket)
    // for each 16 cells of `width`.
    [[nodiscard]] static std::unique_ptr<Overflow>
    make(Algorithm algorithm, Duration per, std::size_t width) noexcept;

    // Drops counts that are over at `now`. Call before any other function.
    void advance(SteadyTime now, const ChargeTerms& terms) noexcept;
    // True if the sketch still counts anything for the key (or for keys that collide with it).
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
    // A cell of SketchCells holds the TAT of a bucket, or the slots of a cap.
    std::variant<WindowSketch, SketchCells> sketch_;
    std::uint64_t in_flight_ = 0; // slots in use, for a cap
};

} // namespace stint::limits
