#include "fixture.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

TEST_CASE("a cap that was never held as a lock has no fencing number") {
    const Limit limit{cap()};

    CHECK(limit.fence() == 0);
}

TEST_CASE("the highest fencing number stays, whatever comes later") {
    Limit limit{cap()};

    limit.raise_fence(7);
    limit.raise_fence(5);
    CHECK(limit.fence() == 7);
    limit.raise_fence(8);

    CHECK(limit.fence() == 8);
}

TEST_CASE("of numbers that threads raise at once the highest stays") {
    constexpr std::uint64_t threads = 4;
    constexpr std::uint64_t each = 10'000;
    Limit limit{cap()};

    std::vector<std::jthread> raising;
    for (std::uint64_t thread = 0; thread < threads; ++thread)
        raising.emplace_back([&limit, thread] {
            for (std::uint64_t i = 1; i <= each; ++i)
                limit.raise_fence(i * threads + thread);
        });
    raising.clear();

    CHECK(limit.fence() == each * threads + threads - 1);
}
