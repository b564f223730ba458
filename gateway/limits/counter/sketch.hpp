// Counts of keys for which a table has no room: a count-min sketch (Cormode and Muthukrishnan
// 2005). A key's count is never less than what was added for it, and more where keys collide.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace stint::limits {

// The base of all sketches: rows of cells, one of each row for a key. Keys are keyed hashes, so
// that no client can choose colliding ones.
class SketchCells {
  public:
    static constexpr std::size_t rows = 4;

    // width: cells a row, a power of two, at most 65536. Without memory, good() is false.
    explicit SketchCells(std::size_t width) noexcept;

    [[nodiscard]] bool good() const noexcept { return cells_ != nullptr; }
    [[nodiscard]] std::uint64_t& cell(Hash128 key, std::size_t row) const noexcept {
        return cells_[row * width_ + ((key.low >> (16 * row)) & (width_ - 1))];
    }
    [[nodiscard]] std::uint64_t least(Hash128 key) const noexcept;
    void add(Hash128 key, std::uint64_t count) noexcept;
    // Subtracts a count that was added, but stops at 0: the count may have been added to another
    // sketch.
    void take_back(Hash128 key, std::uint64_t count) noexcept;
    void raise(Hash128 key, std::uint64_t to) noexcept; // raises the count to at least `to`
    void clear() noexcept;

  private:
    std::size_t width_;
    std::unique_ptr<std::uint64_t[]> cells_;
};

// Counts admissions in the last `per`, by quarters of it. A quarter counts as long as any part of
// it may lie within the last `per`: at most five quarters do.
class WindowSketch {
  public:
    WindowSketch(std::size_t width, Duration per) noexcept;

    [[nodiscard]] bool good() const noexcept;
    // Drops quarters that are over. Drops all counts if `serial` has changed: with Anchor::clock it
    // is the window's, so that a new window begins empty. Call before any other function.
    void advance(SteadyTime now, std::int64_t serial) noexcept;
    [[nodiscard]] std::uint64_t count(Hash128 key) const noexcept;
    // Returns when the count will have fallen to `most`, if nothing is added.
    [[nodiscard]] SteadyTime until(Hash128 key, std::uint64_t most) const noexcept;
    // Adds to the key's count. Returns the quarter that counts it, for take_back().
    std::int64_t add(Hash128 key, std::uint64_t count) noexcept;
    // Subtracts what add() has added to this quarter, if the quarter still counts and `serial` has
    // not changed since.
    void
    take_back(Hash128 key, std::int64_t quarter, std::int64_t serial, std::uint64_t count) noexcept;
    [[nodiscard]] std::int64_t serial() const noexcept { return serial_; }

  private:
    static constexpr std::int64_t quarters = 5;

    [[nodiscard]] std::uint64_t count_from(Hash128 key, std::int64_t quarter) const noexcept;
    [[nodiscard]] const SketchCells& cells_of(std::int64_t quarter) const noexcept {
        return cells_[static_cast<std::size_t>(quarter % quarters)];
    }
    [[nodiscard]] SketchCells& cells_of(std::int64_t quarter) noexcept {
        return cells_[static_cast<std::size_t>(quarter % quarters)];
    }

    std::int64_t length_;  // a quarter's, ns
    std::int64_t now_ = 0; // the current quarter
    std::int64_t serial_ = 0;
    std::array<SketchCells, static_cast<std::size_t>(quarters)> cells_;
};

} // namespace stint::limits
