// One counter's arithmetic: pure, no lock, no clock of its own.
#pragma once

#include "base/time.hpp"
#include "limits/spec.hpp"

#include <cstdint>

namespace stint::limits {

// A fixed window. Under Anchor::first_request it opens with the first request after the previous
// one ended and lasts `per` on the monotonic clock. Under Anchor::clock it ends at the next
// multiple of `per` since the Unix epoch, except that
//  - a wall clock set back never reopens a window that has begun: the window keeps its count until
//    its time is over on the monotonic clock, and if the wall clock then stands in a stretch that
//    the window already covered, that stretch is joined to the window that follows it (so no span
//    of `per` is granted twice);
//  - a wall clock set forward past the window's end ends it, and the next opens in full.
// All keys of a limit share the clock's windows, but each shard of a large table sees the clock for
// itself: around a step of the wall clock shards may differ in where one window ends.
// Time never runs backwards here: a `now` that is a little older than the last one, because another
// worker read its clocks earlier, falls into the window that is open.
// Requires: now.steady is after the monotonic clock's epoch; 0 < per <= 366 days.
struct FixedWindow {
    SteadyTime end{};         // over at this instant; the epoch = never opened
    std::int64_t ordinal = 0; // Anchor::clock: which multiple of `per` the window ends at
    std::uint64_t used = 0;

    // Whether the window still carries information at `now`.
    [[nodiscard]] bool open_at(const Now& now, Duration per, Anchor anchor) const noexcept;
    // Makes the window that `now` falls into the current one (empty if the last one is over).
    // Returns nothing; afterwards `end` > now.steady.
    void advance(const Now& now, Duration per, Anchor anchor) noexcept;
};

} // namespace stint::limits
