#include "fixture.hpp"
#include "limits/top_keys/space_saving.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

void add(SpaceSaving& sketch, std::uint64_t number, std::uint64_t times = 1) {
    for (std::uint64_t i = 0; i < times; ++i)
        sketch.add(key(number), named("key ", number));
}

} // namespace

TEST_CASE("as many keys as there are entries are counted exactly") {
    SpaceSaving sketch;
    for (std::uint64_t number = 1; number <= SpaceSaving::capacity; ++number)
        add(sketch, number, number);

    for (std::size_t rank = 0; rank < SpaceSaving::capacity; ++rank) {
        const auto entry = sketch.ranked(rank);
        CHECK(entry.count == SpaceSaving::capacity - rank);
        CHECK(entry.over == 0);
        CHECK(entry.text == named("key ", entry.count));
    }
}

TEST_CASE("entries take memory as keys come, and keep what they have counted") {
    SpaceSaving sketch;
    CHECK(sketch.room() == 0);
    CHECK_FALSE(sketch.find(key(1)).has_value());
    sketch.refuse(key(1));
    for (std::uint64_t number = 1; number <= SpaceSaving::capacity; ++number) {
        add(sketch, number, number);
        sketch.refuse(key(number));

        CHECK(sketch.room() < std::max(2 * number, 2 * SpaceSaving::first_room));
        for (std::uint64_t known = 1; known <= number; ++known) {
            const auto entry = sketch.find(key(known));
            REQUIRE(entry.has_value());
            CHECK(entry->count == known);
            CHECK(entry->refused == 1);
            CHECK(entry->text == named("key ", known));
        }
        CHECK(sketch.unlisted() == 0);
    }
    CHECK(sketch.room() == SpaceSaving::capacity);
    add(sketch, SpaceSaving::capacity + 1);
    CHECK(sketch.room() == SpaceSaving::capacity);
    CHECK(sketch.unlisted() == 2); // the lightest is gone, the new one has taken over its count
}

TEST_CASE("a new key takes over the lightest entry and what it counted") {
    SpaceSaving sketch;
    add(sketch, 1, 2);
    sketch.refuse(key(1));
    sketch.count_would_refuse(key(1));
    for (std::uint64_t number = 2; number <= SpaceSaving::capacity; ++number)
        add(sketch, number, 5);

    sketch.add(key(1'000), "new");
    sketch.refuse(key(1'000));
    sketch.refuse(key(1)); // has no entry any more
    sketch.count_would_refuse(key(1));

    CHECK_FALSE(sketch.find(key(1)).has_value());
    const auto entry = sketch.find(key(1'000));
    REQUIRE(entry.has_value());
    CHECK(entry->text == "new");
    CHECK(entry->count == 3);
    CHECK(entry->over == 2);
    CHECK(entry->refused == 1);
    CHECK(entry->would_refuse == 0);
    CHECK(sketch.unlisted() == 3);

    sketch.count_would_refuse(key(1'000));
    CHECK(sketch.find(key(1'000))->would_refuse == 1);
    CHECK(sketch.find(key(1'000))->refused == 1);
}

TEST_CASE("a text that is too long is cut and says so") {
    SpaceSaving sketch;
    sketch.add(key(1), std::string(SpaceSaving::longest_text, 'a'));
    sketch.add(key(2), std::string(SpaceSaving::longest_text + 1, 'b'));

    CHECK(sketch.find(key(1))->text == std::string(SpaceSaving::longest_text, 'a'));
    CHECK_FALSE(sketch.find(key(1))->cut);
    CHECK(sketch.find(key(2))->text == std::string(SpaceSaving::longest_text, 'b'));
    CHECK(sketch.find(key(2))->cut);
}

TEST_CASE("a cleared sketch knows nothing and a copy knows everything") {
    SpaceSaving sketch;
    add(sketch, 1, 3);
    add(sketch, 2, 7);
    const SpaceSaving copy{sketch};

    sketch.clear();

    CHECK(sketch.size() == 0);
    CHECK_FALSE(sketch.find(key(1)).has_value());
    REQUIRE(copy.size() == 2);
    CHECK(copy.ranked(0).text == "key 2");
    CHECK(copy.find(key(1))->count == 3);
}

// A naive count beside it; keys far more than entries, a few of them heavy.
TEST_CASE("counts lie between the truth and the truth with the error stated") {
    for (const std::uint32_t seed : {1u, 2u, 3u}) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        SpaceSaving sketch;
        std::map<std::uint64_t, std::uint64_t> truth;
        constexpr std::uint64_t total = 200'000;
        for (std::uint64_t i = 0; i < total; ++i) {
            const double uniform = std::uniform_real_distribution<>{0.0001, 1}(random);
            const auto number = static_cast<std::uint64_t>(1 / uniform); // Zipf-like, 1 to 10,000
            ++truth[number];
            add(sketch, number);
        }

        std::uint64_t previous = ~std::uint64_t{0};
        for (std::size_t rank = 0; rank < sketch.size(); ++rank) {
            CHECK(sketch.ranked(rank).count <= previous);
            previous = sketch.ranked(rank).count;
        }
        std::size_t heavy = 0;
        for (const auto& [number, count] : truth) {
            const auto entry = sketch.find(key(number));
            if (count > total / SpaceSaving::capacity) {
                ++heavy;
                REQUIRE(entry.has_value());
            }
            if (!entry) {
                CHECK(count <= sketch.unlisted());
                continue;
            }
            CHECK(entry->text == named("key ", number));
            CHECK(count <= entry->count);
            CHECK(count >= entry->count - entry->over);
        }
        CHECK(heavy >= 10);
    }
}
