// Windows that follow the wall clock: pure, no lock, no clock of its own.
#pragma once

#include "base/time.hpp"

#include <cstdint>

namespace stint::limits {

// The window that all counters of a limit (or of a shard of it) share under Anchor::clock. It ends
// at the next multiple of `per` since the Unix epoch, except that
//  - a wall clock set back never reopens a window that has begun: the window keeps its count until
//    its time is over on the monotonic clock, and if the wall clock then stands in a stretch that
//    the window already covered, that stretch is joined to the window that follows it (so no span
//    of `per` is granted twice);
//  - a wall clock set forward past the window's end ends it, and the next opens in full.
// Each shard of a large table sees the clock for itself: around a step of the wall clock shards may
// differ in where one window ends.
// Time never runs backwards here: a `now` that is a little older than the last one, because another
// worker read its clocks earlier, falls into the window that is open.
// Requires: now.steady is after the monotonic clock's epoch; 0 < per <= 366 days.
struct ClockWindow {
    SteadyTime end{};         // over at this instant; the epoch = never opened
    std::int64_t ordinal = 0; // which multiple of `per` it ends at
    std::int64_t serial = 1;  // another for each window: the stamp of what belongs to it

    [[nodiscard]] bool open_at(const Now& now, Duration per) const noexcept;
    // Makes the window that `now` falls into the current one. True if it is another than before.
    // Afterwards `end` > now.steady.
    bool advance(const Now& now, Duration per) noexcept;
};

} // namespace stint::limits
