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

using By = HeavyHitters::By;

HeavyHitters::Top
top(std::vector<const HeavyHitters*> parts,
    SteadyTime now,
    std::size_t most = 50,
    By by = By::requests) {
    return HeavyHitters::merged(parts, most, by, now);
}

// Of these requests some are refused, and some would be if the limit were enforced.
void add(
    HeavyHitters& seen,
    std::uint64_t number,
    std::uint64_t times,
    std::uint64_t refused,
    std::uint64_t would_refuse) {
    for (std::uint64_t i = 0; i < times; ++i) {
        seen.add(key(number), named("k", number), begin);
        if (i < refused)
            seen.refuse(key(number));
        else if (i < refused + would_refuse)
            seen.count_would_refuse(key(number));
    }
}

std::string names_of(const HeavyHitters::Top& top) {
    std::string names;
    for (const HeavyHitters::Listed& listed : top.keys)
        names += listed.text + ' ';
    return names;
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
    CHECK(top({&full, &other}, begin).keys[0].requests == 100); // each key that came is listed

    add(full, "one more", 1, begin);
    const auto seen = top({&full, &other}, begin);

    CHECK(seen.keys.size() == 50);
    CHECK(seen.keys[0].text == "heavy");
    CHECK(seen.keys[0].requests == 103);
    CHECK(seen.keys[0].over == 3);
    CHECK(seen.keys[1].requests == 4); // "one more", which took over an entry
    CHECK(seen.keys[2].requests == 3);
    CHECK(seen.unlisted == 3);
}

TEST_CASE("keys are ranked by the count that is asked for, without those that have none") {
    HeavyHitters one;
    HeavyHitters two;
    add(one, 1, 9, 0, 2);
    add(one, 2, 8, 3, 4);
    add(one, 3, 7, 0, 0);
    add(two, 1, 1, 0, 1);
    add(two, 4, 6, 5, 0);
    const auto ranked = [&](By by, std::size_t most = 50) {
        return top({&one, &two}, begin, most, by);
    };

    CHECK(names_of(ranked(By::requests)) == "k1 k2 k3 k4 ");
    CHECK(names_of(ranked(By::refused)) == "k4 k2 ");
    CHECK(names_of(ranked(By::would_refuse)) == "k2 k1 ");
    const auto would = ranked(By::would_refuse).keys;
    CHECK(would[0].would_refuse == 4);
    CHECK(would[0].refused == 3);
    CHECK(would[1].would_refuse == 3);
    CHECK(would[1].requests == 10);
    CHECK(ranked(By::would_refuse).unlisted == 0);
    CHECK(ranked(By::would_refuse, 1).unlisted == 3);
    CHECK(ranked(By::refused, 1).unlisted == 3);
    CHECK(ranked(By::requests, 1).unlisted == 8);
}

TEST_CASE("no other key would have been refused more often than the list says") {
    HeavyHitters seen;
    add(seen, 0, 2, 0, 2);
    for (std::uint64_t number = 1; number < SpaceSaving::capacity; ++number)
        add(seen, number, 5, 0, 0);
    add(seen, 1'000, 2, 0, 2); // takes the entry of k0
    add(seen, 0, 6, 0, 1);     // takes the entry of k1000

    const auto ranked = top({&seen}, begin, 50, By::would_refuse);

    REQUIRE(ranked.keys.size() == 1);
    CHECK(ranked.keys[0].text == "k0");
    CHECK(ranked.keys[0].would_refuse == 1); // and two that went with its entry
    CHECK(ranked.keys[0].over >= 2);
    CHECK(ranked.unlisted >= 2); // k1000

    add(seen, 0, 10, 0, 10);
    add(seen, 1, 12, 0, 12);
    const auto first = top({&seen}, begin, 1, By::would_refuse);
    CHECK(names_of(first) == "k1 ");
    CHECK(first.unlisted >= 13); // k0
}

TEST_CASE("a worker that saw no request has no keys, and no memory for them yet") {
    const HeavyHitters unused;
    const HeavyHitters copied{unused};
    const std::array parts{&unused, &copied};

    const auto top = HeavyHitters::merged(parts, 10, By::requests, SteadyTime{});

    CHECK(top.keys.empty());
    CHECK(top.unlisted == 0);
    CHECK(sizeof(HeavyHitters) <= 64);
}
