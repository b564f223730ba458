#include "import/syntax/values.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace stint::import_nginx;
using namespace std::chrono_literals;

TEST_CASE("nginx's times, sizes and rates") {
    CHECK(time_of("30") == 30s);
    CHECK(time_of("1m30s") == 90s);
    CHECK(time_of("1h 30m") == 90min);
    CHECK(time_of("500ms") == 500ms);
    CHECK(time_of("1d") == 24h);
    CHECK(time_of("1y") == 365 * 24h);
    CHECK(time_of("0") == 0s);
    for (const char* const bad : {"", "s", "1x", "-1", "1.5s", "400d", "99999999999999999999"})
        CHECK_FALSE(time_of(bad));

    CHECK(size_of("512") == 512);
    CHECK(size_of("8k") == 8192);
    CHECK(size_of("1M") == 1U << 20U);
    CHECK(size_of("2g") == std::uint64_t{2} << 30U);
    for (const char* const bad : {"", "k", "1kb", "-1", "99999999999999999g"})
        CHECK_FALSE(size_of(bad));

    REQUIRE(rate_of("10r/s"));
    CHECK(rate_of("10r/s")->requests == 10);
    CHECK(rate_of("30r/m")->per_minute);
    for (const char* const bad : {"", "10", "0r/s", "r/s", "10r/h", "1.5r/s"})
        CHECK_FALSE(rate_of(bad));
}

TEST_CASE("texts with variables are split as nginx does") {
    const auto pieces = pieces_of("a$b_1${c}d$-$");
    REQUIRE(pieces.size() == 4);
    CHECK(pieces[0].text == "a");
    CHECK(pieces[1].variable);
    CHECK(pieces[1].text == "b_1");
    CHECK(pieces[2].text == "c");
    CHECK(pieces[3].text == "d$-$");
    CHECK_FALSE(has_variables("${unclosed"));
    CHECK(pieces_of("").empty());
}
