#include "fixture.hpp"
#include "limits/counter/counter_table.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

std::map<Hash128, std::int64_t> contents(const CounterTable& table) {
    std::map<Hash128, std::int64_t> result;
    for (const Counter& counter : table)
        if (!counter.vacant())
            result[counter.key] = counter.slot.stamp;
    return result;
}

void insert(CounterTable& table, Hash128 of, std::int64_t stamp) {
    if (!table.has_room())
        REQUIRE(table.grow(table.capacity() * 3 / 2 + 8));
    Counter* const slot = table.probe(of, {}).vacant;
    REQUIRE(slot != nullptr);
    table.claim(*slot, of, {stamp, 0});
}

} // namespace

TEST_CASE("an empty table finds nothing and has no slot to offer") {
    CounterTable table;
    const CounterTable::Probe probe = table.probe(key(1), {});

    CHECK(table.find(key(1)) == nullptr);
    CHECK(probe.match == nullptr);
    CHECK(probe.vacant == nullptr);
    CHECK_FALSE(table.has_room());
}

TEST_CASE("a table agrees with a map through insertions, erasures, sweeps and growth") {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        CounterTable table;
        std::map<Hash128, std::int64_t> model;
        for (int step = 0; step < 2000; ++step) {
            // Few distinct homes, so that paths overlap and wrap round the end of the array.
            const Hash128 of{random() % 200, (random() % 4) << 62 | random() % 8};
            const std::int64_t stamp = static_cast<std::int64_t>(random() % 1000) + 1;
            if (const Counter* found = table.find(of); found != nullptr) {
                REQUIRE(model.at(of) == found->slot.stamp);
                table.erase(*table.probe(of, {}).match);
                model.erase(of);
            } else {
                REQUIRE_FALSE(model.contains(of));
                insert(table, of, stamp);
                model[of] = stamp;
            }
            if (random() % 200 == 0) {
                const LiveStamps live{.first = 300};
                const auto swept = table.sweep(live);
                REQUIRE(swept.erased == std::erase_if(model, [](const auto& entry) {
                            return entry.second < 300;
                        }));
                for (const auto& entry : model)
                    REQUIRE(swept.lowest_stamp <= entry.second);
            }
            REQUIRE(table.occupied() == model.size());
        }
        CHECK(contents(table) == model);
        for (const auto& entry : model)
            CHECK(table.find(entry.first) != nullptr);
    }
}

TEST_CASE("an expired counter on a key's path may be taken over without losing those behind it") {
    CounterTable table;
    const std::uint64_t same_home = 1;
    for (std::uint64_t i = 0; i < 4; ++i)
        insert(table, {i, same_home}, i == 1 ? 10 : 20);

    const CounterTable::Probe probe = table.probe({9, same_home}, {.first = 15});
    REQUIRE(probe.expired != nullptr);
    CHECK(probe.expired->key == Hash128{1, same_home});
    table.claim(*probe.expired, {9, same_home}, {30, 0});

    CHECK(table.occupied() == 4);
    CHECK(table.find({1, same_home}) == nullptr);
    for (const std::uint64_t i : {0u, 2u, 3u, 9u})
        CHECK(table.find({i, same_home}) != nullptr);
}
