#include "base/time_zone.hpp"

#include <date/date.h>
#include <date/tz.h>
#include <exception>

namespace stint {

namespace {

// Returns the instant at which a date begins in the time zone.
WallTime begin_of(const date::time_zone& zone, date::local_days date) {
    const date::local_info info = zone.get_info(date);
    const date::sys_seconds begin =
        info.result == date::local_info::nonexistent
            ? info.first.end
            : date::sys_seconds{date.time_since_epoch() - info.first.offset};
    return WallTime{begin.time_since_epoch()};
}

date::local_days first_of_month(date::year_month month) {
    return date::local_days{month / 1};
}

} // namespace

std::optional<TimeZone> TimeZone::find(const std::string& name) {
    try {
        const date::time_zone& zone = *date::locate_zone(name);
        (void)zone.get_info(date::sys_seconds{}); // makes the library read the zone's rules now
        return TimeZone{zone};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

CalendarSpan TimeZone::span_of(WallTime wall, CalendarUnit unit) const {
    const auto instant = date::floor<std::chrono::seconds>(wall);
    const auto today = date::floor<date::days>(zone_->to_local(instant));
    switch (unit) {
    case CalendarUnit::day:
        break;
    case CalendarUnit::week: {
        const date::local_days monday = today - (date::weekday{today} - date::Monday);
        return {
            begin_of(*zone_, monday), begin_of(*zone_, monday + date::weeks{1}),
            monday.time_since_epoch().count()};
    }
    case CalendarUnit::month: {
        const date::year_month_day day{today};
        const date::year_month month = day.year() / day.month();
        const date::local_days first = first_of_month(month);
        return {
            begin_of(*zone_, first), begin_of(*zone_, first_of_month(month + date::months{1})),
            first.time_since_epoch().count()};
    }
    }
    return {
        begin_of(*zone_, today), begin_of(*zone_, today + date::days{1}),
        today.time_since_epoch().count()};
}

} // namespace stint
