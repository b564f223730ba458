// Calendar days, weeks and months of a time zone of the IANA database.
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
// begins when they are put forward. If midnight comes twice, the day begins at the first.
struct CalendarSpan {
    WallTime begin{};
    WallTime end{};
    std::int64_t ordinal = 0; // grows from each span to the next
};

class TimeZone {
  public:
    // Returns the time zone of this name, such as "Europe/Berlin" or "UTC"; nothing if the database
    // does not have it. Reads files: call it at start and reload only.
    [[nodiscard]] static std::optional<TimeZone> find(const std::string& name);

    // Returns the day, week or month that contains `wall`. Thread-safe; takes some hundred
    // nanoseconds.
    [[nodiscard]] CalendarSpan span_of(WallTime wall, CalendarUnit unit) const;

  private:
    explicit TimeZone(const date::time_zone& zone) : zone_{&zone} {}
    const date::time_zone* zone_; // owned by the database, which is never freed
};

} // namespace stint
