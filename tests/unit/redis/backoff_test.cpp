#include "redis/backoff.hpp"

#include <doctest/doctest.h>

#include <chrono>

using stint::redis::Backoff;
using namespace std::chrono_literals;

TEST_CASE("pauses double up to the longest, and a success makes them short again") {
    constexpr std::uint32_t most = UINT32_MAX;
    const auto near = [](stint::Duration pause, stint::Duration bound) {
        return pause <= bound && pause > bound - 1us;
    };
    Backoff backoff{100ms, 1s};
    CHECK(near(backoff.next(most), 100ms));
    CHECK(near(backoff.next(most), 200ms));
    CHECK(near(backoff.next(most), 400ms));
    CHECK(near(backoff.next(most), 800ms));
    for (int i = 0; i < 100; ++i)
        CHECK(near(backoff.next(most), 1s));
    backoff.reset();
    CHECK(near(backoff.next(most), 100ms));
}

TEST_CASE("a pause is any part of its bound") {
    Backoff backoff{100ms, 1s};
    CHECK(backoff.next(0) == 0ms);
    CHECK(backoff.next(1U << 31U) == 100ms);
    CHECK(backoff.next(1U << 30U) == 100ms);
    Backoff long_lived{1h, 24h};
    for (int i = 0; i < 100; ++i)
        CHECK(long_lived.next(UINT32_MAX) <= 24h);
}
