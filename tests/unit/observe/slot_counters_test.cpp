#include "observe/metrics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

using namespace stint::observe;

namespace {

constexpr std::size_t many = 100'000;

// Pages of the counters' memory that are resident.
std::size_t resident_pages(SlotCounters<RouteCounters>& counters) {
    constexpr std::uintptr_t page = 4096;
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(&counters[0]) / page * page;
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(&counters[counters.size() - 1]);
    std::vector<unsigned char> resident((end - begin) / page + 1);
    REQUIRE(::mincore(reinterpret_cast<void*>(begin), end - begin, resident.data()) == 0);
    return static_cast<std::size_t>(
        std::ranges::count_if(resident, [](unsigned char each) { return (each & 1U) != 0; }));
}

} // namespace

TEST_CASE("only slots that were counted in take memory, also in a copy and in a sum") {
    SlotCounters<RouteCounters> counters;
    counters.grow(many);
    counters[7].in_flight = 1;
    counters[many - 1].bytes_in = 2;
    CHECK(resident_pages(counters) <= 4);

    SlotCounters<RouteCounters> copy = counters;
    CHECK(resident_pages(copy) <= 4);
    SlotCounters<RouteCounters> sum;
    sum += counters; // reading maps the one page of zeros
    sum += copy;

    CHECK(resident_pages(sum) <= 4);
    CHECK(copy.size() == many);
    CHECK(copy[7].in_flight == 1);
    CHECK(copy[8].in_flight == 0);
    CHECK(sum[7].in_flight == 2);
    CHECK(sum[many - 1].bytes_in == 4);
}

TEST_CASE("counters keep their slots when there are more of them") {
    SlotCounters<RouteCounters> counters;
    for (std::size_t size = 1; size <= many; size *= 10) {
        counters.grow(size);
        counters[size - 1].in_flight = size;
    }
    counters.grow(1);

    REQUIRE(counters.size() == many);
    for (std::size_t size = 1; size <= many; size *= 10)
        CHECK(counters[size - 1].in_flight == size);
    CHECK(counters[many - 2].in_flight == 0);
}

TEST_CASE("counters are replaced by others of any size") {
    SlotCounters<RouteCounters> few;
    few.grow(1);
    few[0].bytes_out = 3;
    SlotCounters<RouteCounters> other;
    other.grow(many);
    other[many - 1].bytes_out = 4;

    other = few;
    CHECK(other.size() == 1);
    CHECK(other[0].bytes_out == 3);

    const SlotCounters<RouteCounters> taken = std::move(other);
    CHECK(taken[0].bytes_out == 3);
    other = SlotCounters<RouteCounters>{};
    CHECK(other.size() == 0);
}
