// Windows that follow the wall clock: pure, no lock, no clock of its own.
#pragma once

#include "base/time.hpp"
#include "base/time_zone.hpp"

#include <cstdint>
#include <optional>

namespace stint::limits {

// The begin and end of wall-clock windows: at multiples of a length since the Unix epoch, or with
// the days, weeks or months of a time zone.
class WallRuler {
  public:
    explicit WallRuler(Duration per) : per_{per} {}
    WallRuler(TimeZone zone, CalendarUnit unit) : zone_{zone}, unit_{unit} {}

    struct WallWindow {
        std::int64_t ordinal; // the window's
        Duration since_begin;
        Duration to_end;
        [[nodiscard]] Duration length() const noexcept { return since_begin + to_end; }
    };
    // `known` is a span that the caller has seen: a time within it is not looked up.
    [[nodiscard]] WallWindow place_of(WallTime wall, CalendarSpan& known) const;

  private:
    Duration per_{};
    std::optional<TimeZone> zone_;
    CalendarUnit unit_ = CalendarUnit::day;
};

// The window that all counters of a limit (or of a shard of it) share under Anchor::clock. It ends
// where the ruler says, except that
//  - a wall clock set back never reopens a window that has begun: the window keeps its count until
//    its time is over on the monotonic clock, and if the wall clock then stands in a stretch that
//    the window already covered, that stretch is joined to the window that follows it (so no span
//    of a window's length is granted twice);
//  - a wall clock set forward past the window's end ends it, and the next opens in full.
// Each shard of a large table sees the clock for itself: around a step of the wall clock shards may
// differ in where one window ends.
// Time never runs backwards here: a `now` that is a little older than the last one, because another
// worker read its clocks earlier, falls into the window that is open.
// Requires: now.steady is after the monotonic clock's epoch; windows last at most 366 days.
struct ClockWindow {
    SteadyTime end{};         // over at this instant; the epoch = never opened
    std::int64_t ordinal = 0; // the ruler's, of the window that it ends with
    std::int64_t serial = 1;  // unique to each window: the stamp of what belongs to it
    Duration length{};        // the ruler's, of the window that it ends with
    CalendarSpan seen{};      // calendar only: where the wall clock stood last

    [[nodiscard]] bool open_at(const Now& now, const WallRuler& ruler) const;
    // Makes the window that `now` falls into the current one. True if it is another than before.
    // Afterwards `end` > now.steady.
    bool advance(const Now& now, const WallRuler& ruler);
};

} // namespace stint::limits
