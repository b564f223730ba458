#include "base/time_zone.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace std::chrono_literals;
using std::chrono::sys_days;
using namespace std::chrono;

namespace {

WallTime utc(year_month_day date, Duration time = {}) {
    return WallTime{sys_days{date}} + time;
}

CalendarSpan span(const char* zone, WallTime wall, CalendarUnit unit = CalendarUnit::day) {
    return TimeZone::find(zone)->span_of(wall, unit);
}

} // namespace

TEST_CASE("a zone that does not exist is not found") {
    CHECK_FALSE(TimeZone::find("Europe/Atlantis"));
    CHECK_FALSE(TimeZone::find(""));
    CHECK(TimeZone::find("Europe/Berlin"));
    CHECK(TimeZone::find("UTC"));
}

TEST_CASE("a day of UTC lasts from midnight to midnight") {
    const CalendarSpan day = span("UTC", utc(2024y / 2 / 29, 12h));

    CHECK(day.begin == utc(2024y / 2 / 29));
    CHECK(day.end == utc(2024y / 3 / 1));
    CHECK(span("UTC", day.end).ordinal == day.ordinal + 1);
    CHECK(span("UTC", day.end - 1ns).ordinal == day.ordinal);
}

TEST_CASE("a day on which clocks are put forward has 23 hours, one on which they are put back 25") {
    CHECK(span("Europe/Berlin", utc(2024y / 3 / 31, 12h)).begin == utc(2024y / 3 / 30, 23h));
    CHECK(span("Europe/Berlin", utc(2024y / 3 / 31, 12h)).end == utc(2024y / 3 / 31, 22h));
    CHECK(span("Europe/Berlin", utc(2024y / 10 / 27, 12h)).begin == utc(2024y / 10 / 26, 22h));
    CHECK(span("Europe/Berlin", utc(2024y / 10 / 27, 12h)).end == utc(2024y / 10 / 27, 23h));
    CHECK(span("America/New_York", utc(2024y / 3 / 10, 12h)).begin == utc(2024y / 3 / 10, 5h));
    CHECK(span("America/New_York", utc(2024y / 3 / 10, 12h)).end == utc(2024y / 3 / 11, 4h));
    CHECK(span("America/New_York", utc(2024y / 11 / 3, 12h)).begin == utc(2024y / 11 / 3, 4h));
    CHECK(span("America/New_York", utc(2024y / 11 / 3, 12h)).end == utc(2024y / 11 / 4, 5h));
}

TEST_CASE("a day whose midnight is skipped begins when the clocks are put forward") {
    const WallTime skipped = utc(2018y / 11 / 4, 3h); // 00:00 is 01:00 in Sao Paulo
    const CalendarSpan day = span("America/Sao_Paulo", skipped);

    CHECK(day.begin == skipped);
    CHECK(day.end == utc(2018y / 11 / 5, 2h));
    CHECK(span("America/Sao_Paulo", skipped - 1ns).end == skipped);
}

TEST_CASE("a day whose midnight comes twice begins with the first") {
    const CalendarSpan day = span("America/Havana", utc(2024y / 11 / 3, 12h)); // 01:00 is 00:00

    CHECK(day.begin == utc(2024y / 11 / 3, 4h));
    CHECK(day.end == utc(2024y / 11 / 4, 5h));
    CHECK(span("America/Havana", utc(2024y / 11 / 3, 5h + 30min)).ordinal == day.ordinal);
}

TEST_CASE("an evening whose last hour comes twice belongs to its day both times") {
    // Beirut: on 2024-10-27 at 00:00 it is 23:00 of the 26th once more.
    const CalendarSpan day = span("Asia/Beirut", utc(2024y / 10 / 26, 12h));

    CHECK(day.begin == utc(2024y / 10 / 25, 21h));
    CHECK(day.end == utc(2024y / 10 / 26, 22h));
    CHECK(span("Asia/Beirut", utc(2024y / 10 / 26, 21h + 30min)).ordinal == day.ordinal);
}

TEST_CASE("a date that a zone never had is no day") {
    // Apia went from the end of 2011-12-29 to the beginning of 2011-12-31.
    const WallTime jump = utc(2011y / 12 / 30, 10h);

    CHECK(span("Pacific/Apia", jump - 1ns).end == jump);
    CHECK(span("Pacific/Apia", jump).begin == jump);
}

TEST_CASE("a week lasts from Monday to Monday") {
    const CalendarSpan week =
        span("Europe/Berlin", utc(2024y / 4 / 3, 12h), CalendarUnit::week); // a Wednesday

    CHECK(week.begin == utc(2024y / 3 / 31, 22h));
    CHECK(week.end == utc(2024y / 4 / 7, 22h));
    CHECK(span("Europe/Berlin", week.begin, CalendarUnit::week).ordinal == week.ordinal);
    CHECK(span("Europe/Berlin", week.begin - 1ns, CalendarUnit::week).end == week.begin);
}

TEST_CASE("a month lasts from its first day to the next one's") {
    const CalendarSpan march = span("Europe/Berlin", utc(2024y / 3 / 15), CalendarUnit::month);

    CHECK(march.begin == utc(2024y / 2 / 29, 23h));
    CHECK(march.end == utc(2024y / 3 / 31, 22h));
    const CalendarSpan december = span("UTC", utc(2024y / 12 / 31, 23h), CalendarUnit::month);
    CHECK(december.end == utc(2025y / 1 / 1));
}

TEST_CASE("the spans of every zone that is at odds with others follow each other without a gap") {
    for (const char* name :
         {"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Beirut",
          "America/Havana", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia"}) {
        CAPTURE(name);
        const TimeZone zone = *TimeZone::find(name);
        for (const CalendarUnit unit :
             {CalendarUnit::day, CalendarUnit::week, CalendarUnit::month}) {
            CalendarSpan last = zone.span_of(utc(2009y / 12 / 31, 17h), unit);
            while (last.end < utc(2026y / 1 / 1)) {
                const CalendarSpan next = zone.span_of(last.end, unit);
                REQUIRE(next.begin == last.end);
                REQUIRE(next.end > next.begin);
                REQUIRE(next.ordinal > last.ordinal);
                last = next;
            }
        }
    }
}
