#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

using namespace std::chrono;

LimitSpec daily(const char* zone, CalendarUnit unit = CalendarUnit::day) {
    LimitSpec spec = window(24h, Anchor::clock);
    spec.identity.time_zone = zone;
    spec.identity.unit = unit;
    return spec;
}

// The monotonic clock starts with the test.
Now on(year_month_day date, Duration time) {
    const WallTime wall = WallTime{sys_days{date}} + time;
    return {start.steady + (wall - start.wall), wall};
}

} // namespace

TEST_CASE("a day's window ends at midnight there, also when the day has 23 or 25 hours") {
    for (const bool keyed : {false, true}) {
        LimitSpec spec = daily("Europe/Berlin");
        spec.identity.key = keyed ? "client_ip" : "";
        Limit limit{spec};
        REQUIRE(admit_one(limit, 1, on(2024y / 3 / 31, 0h)).allowed()); // 01:00 there

        CHECK(admit_one(limit, 1, on(2024y / 3 / 31, 0h)).retry_after == 22h);
        CHECK_FALSE(admit_one(limit, 1, on(2024y / 3 / 31, 22h - 1ns)).allowed());
        CHECK(admit_one(limit, 1, on(2024y / 3 / 31, 22h)).allowed());

        REQUIRE(admit_one(limit, 1, on(2024y / 10 / 26, 22h)).allowed());
        CHECK(admit_one(limit, 1, on(2024y / 10 / 26, 22h)).retry_after == 25h);
    }
}

TEST_CASE("what a share has used of a day counts until midnight, also when the day has 25 hours") {
    LimitSpec spec = daily("Europe/Berlin");
    spec.identity.key = "client_ip";
    Limit limit{spec};
    const Now begin = on(2024y / 10 / 26, 22h);
    const Charge one{.limit = &limit, .key = key(1), .quota = 8};
    REQUIRE(limit.set_share(key(1), {{3, 0}, begin.steady + 48h}, begin));
    REQUIRE(admit_one(limit, 8, begin, key(1)).allowed());

    CHECK(limit.use(one, on(2024y / 10 / 27, 22h)) == 1); // 24 h later
    CHECK(limit.use(one, on(2024y / 10 / 27, 23h - 1ns)) == 1);
    CHECK(limit.use(one, on(2024y / 10 / 27, 23h)) == 0);
}

TEST_CASE("weeks begin on Monday and months on their first") {
    Limit weekly{daily("UTC", CalendarUnit::week)};
    REQUIRE(admit_one(weekly, 1, on(2024y / 4 / 3, 12h)).allowed());
    CHECK(admit_one(weekly, 1, on(2024y / 4 / 3, 12h)).retry_after == 108h);

    Limit monthly{daily("UTC", CalendarUnit::month)};
    REQUIRE(admit_one(monthly, 1, on(2024y / 2 / 1, 0h)).allowed());
    CHECK(admit_one(monthly, 1, on(2024y / 2 / 1, 0h)).retry_after == 29 * 24h);
}

TEST_CASE("a wall clock set back over midnight opens no second window for the same day") {
    Limit limit{daily("Europe/Berlin")};
    REQUIRE(admit_one(limit, 1, on(2024y / 6 / 1, 20h)).allowed());
    const Now midnight = on(2024y / 6 / 1, 22h);
    const Now again{midnight.steady, midnight.wall - 1h};

    // What is left of the day for the second time is joined to the next one.
    REQUIRE(admit_one(limit, 1, again).allowed());
    CHECK(admit_one(limit, 1, again).retry_after == 25h);
}

TEST_CASE("a wall clock set forward over midnight opens the next day's window") {
    Limit limit{daily("Europe/Berlin")};
    const Now noon = on(2024y / 6 / 1, 10h);
    REQUIRE(admit_one(limit, 1, noon).allowed());

    CHECK(admit_one(limit, 1, {noon.steady, noon.wall + 13h}).allowed());
}

TEST_CASE("a paced day spreads over its 23 hours") {
    Limit limit{daily("Europe/Berlin")};
    const Charge paced{.limit = &limit, .quota = 23, .pace = true};
    REQUIRE(admit_all({paced}, on(2024y / 3 / 30, 23h)).allowed());

    CHECK(admit_all({paced}, on(2024y / 3 / 30, 23h)).retry_after == 1h);
}

TEST_CASE("a limit of a zone that does not exist cannot be made") {
    CHECK_THROWS(Limit{daily("Europe/Atlantis")});
}
