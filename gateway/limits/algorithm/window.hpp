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
        std::int64_t ordinal; // number of the window, rising with time
        Duration since_begin;
        Duration to_end;
        [[nodiscard]] Duration length() const noexcept { return since_begin + to_end; }
    };
    // Returns the window around `wall`. known: the calendar span last looked up; replaced if `wall`
    // is outside.
    [[nodiscard]] WallWindow place_of(WallTime wall, CalendarSpan& known) const;

  private:
    Duration per_{};
    std::optional<TimeZone> zone_;
    CalendarUnit unit_ = CalendarUnit::day;
};

// The window that all counters of a limit (or of a shard of it) share under Anchor::clock. It ends
// where the WallRuler says, except that
//  - a wall clock set back never reopens a window that has begun. The window keeps its count until
//    its time is over on the monotonic clock. If the wall clock then stands in a stretch that the
//    window already covered, that stretch is joined to the following window, so that no window's
//    length is granted twice;
//  - a wall clock set forward past the window's end ends it, and the next opens in full.
// Each shard of a large table reads the clock for itself: around a step of the wall clock, shards
// may differ in where one window ends.
// A `now` a little older than the last one, because another worker read its clocks earlier, falls
// into the open window.
// Requires: now.steady is after the monotonic clock's epoch; windows last at most 366 days.
struct ClockWindow {
    SteadyTime end{};         // the window is over at this instant; the epoch = never opened
    std::int64_t ordinal = 0; // WallRuler's number of the last wall-clock window that it covers
    std::int64_t serial = 1;  // unique to each window; the stamp of the cells charged in it
    Duration length{};        // length of that wall-clock window
    CalendarSpan seen{};      // calendar only: the span last looked up

    [[nodiscard]] bool open_at(const Now& now, const WallRuler& ruler) const;
    // Moves on to the window around `now`. True if that is a new window. Afterwards `end` >
    // now.steady.
    bool advance(const Now& now, const WallRuler& ruler);
};

} // namespace stint::limits
