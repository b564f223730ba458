// Counts of complete windows in bounded memory: the windows with the highest counts one by one, and
// of all others a histogram.
#pragma once

#include "base/hash.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stint::limits {

// The count of one key in one window that is over: the sum of the costs of the requests that the
// limit admitted.
struct WindowCount {
    Hash128 key;
    std::uint64_t counted = 0;
};

// A number that is known to lie between two bounds.
struct Bounds {
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    friend bool operator==(const Bounds&, const Bounds&) = default;
};

// A histogram of windows by their counts. Counts below 16 have a bin each, greater ones eight bins
// for each power of two, so that a bin's highest count is at most an eighth above its lowest. Each
// bin knows the sum of its counts.
class CountBins {
  public:
    struct Bin {
        std::uint64_t sum = 0;
        std::uint64_t windows = 0;
    };
    static constexpr std::size_t most = 240; // bins; the last has all counts from 15 * 2^28 on

    // Both allocate memory for so many bins as are needed. Without memory they leave counts out.
    void add(std::uint64_t counted) noexcept;
    void add(const CountBins& other) noexcept;
    void clear() noexcept { bins_.clear(); }

    // Returns the sum of all counts, and how many windows these are.
    [[nodiscard]] Bin total() const noexcept;
    // Returns a count that no window is above; 0 without windows.
    [[nodiscard]] std::uint64_t highest() const noexcept;
    // Returns how many windows may have a count of at least `count`: never too few.
    [[nodiscard]] std::uint64_t windows_from(std::uint64_t count) const noexcept;
    // Returns how much of the counts a limit of `quota` a window refuses. Only the bin with `quota`
    // in it is not known exactly: the bounds differ by at most a quarter of the bin's width for
    // each of its windows, which is 1/32 of `quota`, and by nothing for quotas below 16.
    [[nodiscard]] Bounds refused_by(std::uint64_t quota) const noexcept;

  private:
    Bin* bin_for(std::uint64_t counted) noexcept;

    std::vector<Bin> bins_;
};

// The windows with the highest counts, and a histogram of the rest.
class WindowList {
  public:
    // most: windows that are listed one by one.
    explicit WindowList(std::size_t most = 0) noexcept : most_{most} {}

    // Adds a window. Without memory it is left out. O(log most).
    void add(const WindowCount& window) noexcept;
    void add(const WindowList& other) noexcept;
    void clear() noexcept;

    [[nodiscard]] std::span<const WindowCount> listed() const noexcept { return listed_; }
    [[nodiscard]] const CountBins& rest() const noexcept { return rest_; }

  private:
    std::size_t most_;
    std::vector<WindowCount> listed_; // a heap, the lowest count first
    CountBins rest_;
};

} // namespace stint::limits
