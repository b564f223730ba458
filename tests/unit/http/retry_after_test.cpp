#include "http/retry_after.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;
using namespace std::chrono_literals;

constexpr WallTime november_1994{784'111'777s}; // Sun, 06 Nov 1994 08:49:37 GMT

std::optional<Duration> asked(std::initializer_list<Field> fields, WallTime now = november_1994) {
    return parse_retry_after(std::vector<Field>{fields}, now);
}

Field retry_after(std::string_view value) {
    return {FieldId::other, "Retry-after", value};
}

Field date(std::string_view value) {
    return {FieldId::other, "Date", value};
}

} // namespace

TEST_CASE("the three forms of a date are one instant") {
    for (const char* text :
         {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994"})
        CHECK_MESSAGE(parse_http_date(text, november_1994) == november_1994, text);
}

TEST_CASE("what is not a date is none") {
    for (const char* text :
         {"", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
          "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
          "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
          "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
          "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 ovD 1994 08:49:37 GMT",
          "Sun Nov 6 08:49:37 1994", "Sunday, 06-Nov-1994 08:49:37 GMT"})
        CHECK_MESSAGE(!parse_http_date(text, november_1994), text);
}

TEST_CASE("a year of two digits is at most 50 years ahead") {
    const WallTime now{1'792'000'000s}; // 2026

    CHECK(*parse_http_date("Sunday, 06-Nov-76 08:49:37 GMT", now) > now);
    CHECK(*parse_http_date("Sunday, 06-Nov-77 08:49:37 GMT", now) < now);
}

TEST_CASE("a year beyond what a clock holds is far away") {
    CHECK(
        *parse_http_date("Sun, 06 Nov 9999 08:49:37 GMT", november_1994) >
        november_1994 + 36'500 * 24h);
    CHECK(*parse_http_date("Sun, 06 Nov 0001 08:49:37 GMT", november_1994) == WallTime{});
}

TEST_CASE("seconds are taken as they are, up to 366 days") {
    CHECK(asked({retry_after("0")}) == 0s);
    CHECK(asked({retry_after("30")}) == 30s);
    CHECK(asked({retry_after("0000000000000000000000007")}) == 7s);
    CHECK(asked({retry_after("31622401")}) == 366 * 24h);
    CHECK(asked({retry_after("99999999999999999999999999999999")}) == 366 * 24h);
}

TEST_CASE("a date counts from the response's own") {
    const Field later = retry_after("Sun, 06 Nov 1994 08:50:07 GMT");

    CHECK(asked({later, date("Sun, 06 Nov 1994 08:49:57 GMT")}) == 10s);
    CHECK(asked({later}) == 30s);
    CHECK(asked({later, date("Sun, 06 Nov 1994 08:49:57 GMT")}, november_1994 - 1h) == 10s);
}

TEST_CASE("a Date that is far from our clock, or none, is not believed") {
    const Field later = retry_after("Sun, 06 Nov 1994 08:50:07 GMT");

    CHECK(asked({later, date("Fri, 04 Nov 1994 08:49:37 GMT")}) == 30s);
    CHECK(asked({later, date("Tue, 08 Nov 1994 08:49:37 GMT")}) == 30s);
    CHECK(asked({later, date("yesterday")}) == 30s);
}

TEST_CASE("a date that has passed is no time, and one far away 366 days") {
    CHECK(asked({retry_after("Sun, 06 Nov 1994 08:49:36 GMT")}) == 0s);
    CHECK(asked({retry_after("Sun, 06 Nov 9999 08:49:36 GMT")}) == 366 * 24h);
}

TEST_CASE("no time is made up") {
    CHECK_FALSE(asked({}));
    for (const char* text : {"", "-1", "+1", "1.5", "1e3", "30s", "soon", "1, 2"})
        CHECK_FALSE_MESSAGE(asked({retry_after(text)}), text);
}

TEST_CASE("of several times the longest holds") {
    CHECK(
        asked({retry_after("3"), retry_after("soon"), retry_after("20"), retry_after("5")}) == 20s);
}
