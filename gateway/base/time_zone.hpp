// Days, weeks and months as a time zone's wall clocks show them, through the IANA database.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace date {
class time_zone;
}

namespace stint {

enum class CalendarUnit : std::uint8_t { day, week, month };

// One day, week (from Monday, ISO 8601) or month: [begin, end). If clocks skip midnight, the day
// begins when they are put forward. If midnight comes twice, it begins at the first.
struct CalendarSpan {
    WallTime begin{};
    WallTime end{};
    std::int64_t ordinal = 0; // rises from span to span
};

class TimeZone {
  public:
    // "Europe/Berlin", "UTC"; nothing for a name that the database does not have. Reads files: at
    // start and reload, never later.
    [[nodiscard]] static std::optional<TimeZone> find(const std::string& name);

    // Pure, any thread; some hundred nanoseconds.
    [[nodiscard]] CalendarSpan span_of(WallTime wall, CalendarUnit unit) const;

  private:
    explicit TimeZone(const date::time_zone& zone) : zone_{&zone} {}
    const date::time_zone* zone_; // the database's, which stays
};

} // namespace stint
