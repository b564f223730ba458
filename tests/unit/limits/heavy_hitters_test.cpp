#include "fixture.hpp"
#include "limits/top_keys/heavy_hitters.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// The beginning of a period.
constexpr SteadyTime begin{1'000 * HeavyHitters::period};

void add(HeavyHitters& seen, const std::string& text, std::uint64_t times, SteadyTime now) {
    const std::uint64_t number = std::hash<std::string>{}(text);
    for (std::uint64_t i = 0; i < times; ++i) {
        seen.add(key(number), text, now);
        if (i % 2 == 1)
            seen.refuse(key(number));
    }
}

HeavyHitters::Top
top(std::vector<const HeavyHitters*> parts, SteadyTime now, std::size_t most = 50) {
    return HeavyHitters::merged(parts, most, now);
}

} // namespace

TEST_CASE("the workers' counts are added up, the heaviest first") {
    HeavyHitters one;
    HeavyHitters two;
    add(one, "a", 4, begin);
    add(one, "b", 6, begin);
    add(two, "a", 10, begin);

    const auto seen = top({&one, &two}, begin + 1s);

    REQUIRE(seen.keys.size() == 2);
    CHECK(seen.keys[0].text == "a");
    CHECK(seen.keys[0].requests == 14);
    CHECK(seen.keys[0].refused == 7);
    CHECK(seen.keys[0].over == 0);
    CHECK(seen.keys[1].text == "b");
    CHECK(seen.unlisted == 0);
    CHECK(seen.span == 301s);
}

TEST_CASE("a period counts until the next one is over") {
    HeavyHitters seen;
    add(seen, "a", 1, begin);
    add(seen, "b", 1, begin + 5min);

    CHECK(top({&seen}, begin + 10min - 1ns).keys.size() == 2);
    CHECK(top({&seen}, begin + 10min).keys.size() == 1);
    CHECK(top({&seen}, begin + 15min).keys.empty());

    add(seen, "c", 1, begin + 10min);
    CHECK(top({&seen}, begin + 10min).keys.size() == 2);
    add(seen, "d", 1, begin + 25min);
    CHECK(top({&seen}, begin + 25min).keys.size() == 1);
}

TEST_CASE("a now a little older than the last one falls into the running period") {
    HeavyHitters seen;
    add(seen, "a", 1, begin);
    add(seen, "a", 1, begin - 1ms);

    CHECK(top({&seen}, begin).keys.at(0).requests == 2);
}

TEST_CASE("a key that one full worker does not list counts there as often as it can have come") {
    HeavyHitters full;
    for (std::size_t i = 0; i < SpaceSaving::capacity; ++i)
        add(full, named("k", i), 3, begin);
    HeavyHitters other;
    add(other, "heavy", 100, begin);

    const auto seen = top({&full, &other}, begin);

    CHECK(seen.keys.size() == 50);
    CHECK(seen.keys[0].text == "heavy");
    CHECK(seen.keys[0].requests == 103);
    CHECK(seen.keys[0].over == 3);
    CHECK(seen.keys[1].requests == 3);
    CHECK(seen.unlisted == 3);
}

TEST_CASE("a worker that saw no request has no keys, and no memory for them yet") {
    const HeavyHitters unused;
    const HeavyHitters copied{unused};
    const std::array parts{&unused, &copied};

    const auto top = HeavyHitters::merged(parts, 10, SteadyTime{});

    CHECK(top.keys.empty());
    CHECK(top.unlisted == 0);
    CHECK(sizeof(HeavyHitters) <= 64);
}
