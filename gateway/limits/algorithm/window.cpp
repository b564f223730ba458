#include "limits/algorithm/window.hpp"

namespace stint::limits {

namespace {

// Returns the window between two multiples of `per` around `wall`, also before 1970. Multiplies
// nothing, so no wall clock overflows it.
WallRuler::WallWindow place_among_multiples(WallTime wall, Duration per) noexcept {
    const std::int64_t since_epoch = wall.time_since_epoch().count();
    std::int64_t quotient = since_epoch / per.count();
    std::int64_t remainder = since_epoch % per.count();
    if (remainder < 0) {
        --quotient;
        remainder += per.count();
    }
    return {quotient + 1, Duration{remainder}, per - Duration{remainder}};
}

} // namespace

WallRuler::WallWindow WallRuler::place_of(WallTime wall, CalendarSpan& known) const {
    if (!zone_) [[likely]]
        return place_among_multiples(wall, per_);
    if (wall < known.begin || known.end <= wall) [[unlikely]]
        known = zone_->span_of(wall, unit_);
    return {known.ordinal, wall - known.begin, known.end - wall};
}

bool ClockWindow::open_at(const Now& now, const WallRuler& ruler) const {
    CalendarSpan known = seen;
    return end > now.steady && ruler.place_of(now.wall, known).ordinal <= ordinal;
}

bool ClockWindow::advance(const Now& now, const WallRuler& ruler) {
    WallRuler::WallWindow place = ruler.place_of(now.wall, seen);
    if (end > now.steady && place.ordinal <= ordinal) [[likely]]
        return false;
    const bool seen_before = end != SteadyTime{} && place.ordinal <= ordinal;
    const bool overlaps = now.steady - place.since_begin < end;
    SteadyTime next_end = now.steady + place.to_end;
    if (seen_before && overlaps) {
        CalendarSpan following = seen;
        place = ruler.place_of(now.wall + place.to_end, following);
        next_end += place.length();
    }
    end = next_end;
    ordinal = place.ordinal;
    length = place.length();
    ++serial;
    return true;
}

} // namespace stint::limits
