#include "base/time.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace std::chrono_literals;

TEST_CASE("milliseconds to wait are rounded up") {
    CHECK(ceil_ms(0ns) == 0);
    CHECK(ceil_ms(1ns) == 1);
    CHECK(ceil_ms(1ms) == 1);
    CHECK(ceil_ms(1ms + 1ns) == 2);
    CHECK(ceil_ms(366 * 24h) == 31'622'400'000);
}

TEST_CASE("seconds of a Retry-After are rounded up and at least one") {
    CHECK(retry_after_seconds(0ns) == 1);
    CHECK(retry_after_seconds(1ns) == 1);
    CHECK(retry_after_seconds(1s) == 1);
    CHECK(retry_after_seconds(1s + 1ns) == 2);
    CHECK(retry_after_seconds(59'900ms) == 60);
    CHECK(retry_after_seconds(-5s) == 1);
}
