// Latencies counted in nanoseconds, each to within 1/64 of itself. No thread safety.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace stint::bench {

class Histogram {
  public:
    void add(std::int64_t nanoseconds) noexcept {
        const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
        ++counts_[slot(value)];
        ++total_;
        max_ = std::max(max_, value);
    }

    // In microseconds. share: 0.99 for the 99th percentile. 0 where nothing was counted.
    [[nodiscard]] double quantile(double share) const noexcept {
        const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(total_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen > rank)
                return std::min(middle(i), static_cast<double>(max_)) / 1000;
        }
        return max();
    }

    [[nodiscard]] double max() const noexcept { return static_cast<double>(max_) / 1000; }

  private:
    static constexpr unsigned bits = 6; // 64 slots for each power of two
    static constexpr std::uint64_t steps = 1U << bits;

    static std::size_t slot(std::uint64_t value) noexcept {
        if (value < steps)
            return value;
        const auto shift = static_cast<unsigned>(std::bit_width(value)) - bits - 1;
        return (shift + 1) * steps + ((value >> shift) & (steps - 1));
    }

    static double middle(std::size_t slot) noexcept {
        if (slot < steps)
            return static_cast<double>(slot);
        const auto shift = slot / steps - 1;
        return (static_cast<double>(steps + slot % steps) + 0.5) *
               static_cast<double>(std::uint64_t{1} << shift);
    }

    std::array<std::uint64_t, (64 - bits + 1) * steps> counts_{};
    std::uint64_t total_ = 0;
    std::uint64_t max_ = 0;
};

} // namespace stint::bench
