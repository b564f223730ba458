// One counter's state under any algorithm: sixteen bytes, whose meaning is the algorithm's own.
#pragma once

#include <cstdint>
#include <limits>

namespace stint::limits {

struct CounterCell {
    std::int64_t stamp = 0; // decides whether `used` still counts (LiveStamps); 0: never charged
    std::uint64_t used = 0;
};

// The range of stamps of live cells. Any other cell is expired: it carries no information, and the
// next new key may take its place.
struct LiveStamps {
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    std::int64_t last = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool contain(const CounterCell& slot) const noexcept {
        return first <= slot.stamp && slot.stamp <= last;
    }
};

} // namespace stint::limits
