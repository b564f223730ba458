#include "fixture.hpp"
#include "limits/counter/tally.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// Whether a request of the key is admitted by a counter of its own.
bool taken(Limit& limit, const Now& now, Hash128 of) {
    const std::uint64_t overflowed = limit.tally().overflowed();
    return admit_one(limit, 1, now, of).allowed() && limit.tally().overflowed() == overflowed;
}

// Asks for keys first, first + 1, ...; returns how many got a counter of their own.
std::uint64_t admit_keys(Limit& limit, std::uint64_t first, std::uint64_t count, const Now& now) {
    std::uint64_t admitted = 0;
    for (std::uint64_t i = 0; i < count; ++i)
        admitted += taken(limit, now, key(first + i));
    return admitted;
}

// Keys of the first and of the last shard of a limit that has several.
Hash128 first_shard(std::uint64_t number) {
    return {0, key(number).low};
}
Hash128 last_shard(std::uint64_t number) {
    return {~std::uint64_t{0}, key(number).low};
}

} // namespace

TEST_CASE("each key has a window of its own") {
    Limit limit{keyed_window(1s, 100)};
    REQUIRE(admit_one(limit, 1, at(0s), key(1)).allowed());

    CHECK(admit_one(limit, 1, at(500ms), key(2)).allowed());
    CHECK(admit_one(limit, 1, at(500ms), key(1)).retry_after == 500ms);
    CHECK(admit_one(limit, 1, at(500ms), key(2)).retry_after == 1s);
    CHECK(limit.live_keys(at(999ms)) == 2);
    CHECK(limit.live_keys(at(1s)) == 1);
}

TEST_CASE("the key whose hash is zero is a key like any other") {
    Limit limit{keyed_window(1s, 100)};

    CHECK(admit_one(limit, 1, at(0s), Hash128{}).allowed());
    CHECK_FALSE(admit_one(limit, 1, at(0s), Hash128{}).allowed());
}

TEST_CASE("a table holds exactly as many live keys as it may") {
    for (const std::uint64_t max_keys : {1u, 10u, 4096u, 4097u, 50'000u}) {
        CAPTURE(max_keys);
        Limit limit{keyed_window(60s, max_keys)};

        CHECK(admit_keys(limit, 0, max_keys + 1000, at(0s)) == max_keys);
        CHECK(limit.live_keys(at(0s)) == max_keys);
        CHECK(limit.tally().overflowed() > 800); // of 1000, some of which collide
        CHECK(limit.tally().table_full() == 0);
    }
}

TEST_CASE("a full table still serves the keys it holds") {
    Limit limit{keyed_window(60s, 10)};
    REQUIRE(admit_keys(limit, 0, 10, at(0s)) == 10);

    CHECK(admit_one(limit, 2, at(0s), key(3)).allowed());
    CHECK(limit.tally().overflowed() == 0);
}

TEST_CASE("windows that are over make room for as many new keys") {
    for (const std::uint64_t max_keys : {10u, 20'000u}) {
        CAPTURE(max_keys);
        Limit limit{keyed_window(1s, max_keys)};
        for (int round = 0; round < 5; ++round) {
            const std::uint64_t first = static_cast<std::uint64_t>(round) * max_keys;

            CHECK(admit_keys(limit, first, max_keys, at(round * 1s)) == max_keys);
            CHECK(limit.live_keys(at(round * 1s)) == max_keys);
        }
    }
}

TEST_CASE("a new key that another limit refuses takes no place") {
    Limit keys{keyed_window(60s, 2)};
    Limit other{window(60s)};
    REQUIRE(admit_one(other, 1, at(0s)).allowed());
    for (std::uint64_t i = 0; i < 100; ++i)
        REQUIRE(admit_all({{&keys, key(i), 1}, {&other, {}, 1}}, at(0s)).refused_by == 1);

    CHECK(keys.live_keys(at(0s)) == 0);
    CHECK(admit_keys(keys, 1000, 3, at(0s)) == 2);
}

TEST_CASE("raising max_keys admits the difference") {
    Limit limit{keyed_window(60s, 10)};
    REQUIRE(admit_keys(limit, 0, 20, at(0s)) == 10);

    limit.set_max_keys(5000);

    CHECK(admit_keys(limit, 100, 6000, at(0s)) == 4990);
}

TEST_CASE("lowering max_keys keeps the live keys and refuses new ones until few enough are left") {
    Limit limit{keyed_window(60s, 100)};
    REQUIRE(admit_keys(limit, 0, 50, at(0s)) == 50);
    REQUIRE(admit_keys(limit, 50, 50, at(30s)) == 50);

    limit.set_max_keys(60);

    CHECK(admit_one(limit, 2, at(31s), key(0)).allowed());
    CHECK(admit_keys(limit, 1000, 5, at(31s)) == 0);
    CHECK(admit_keys(limit, 2000, 20, at(60s)) == 10);
}

TEST_CASE("all keys of a clock window end together") {
    Limit limit{keyed_window(1s, 100, Anchor::clock)};
    REQUIRE(admit_keys(limit, 0, 10, at(300ms)) == 10);
    REQUIRE(admit_keys(limit, 10, 10, at(900ms)) == 10);

    CHECK(admit_one(limit, 1, at(999ms), key(15)).retry_after == 1ms);
    CHECK(limit.live_keys(at(1s)) == 0);
    CHECK(admit_keys(limit, 0, 20, at(1s)) == 20);
}

TEST_CASE("a step forward of the wall clock empties a full table of clock windows") {
    Limit limit{keyed_window(60s, 10, Anchor::clock)};
    REQUIRE(admit_keys(limit, 0, 11, at(0s)) == 10);

    CHECK(limit.live_keys(at(1s, 60s)) == 0);
    CHECK(admit_keys(limit, 100, 11, at(1s, 60s)) == 10);
}

TEST_CASE("a step back of the wall clock gives no key a second window in the same time") {
    Limit limit{keyed_window(1s, 100, Anchor::clock)};
    REQUIRE(admit_one(limit, 1, at(900ms), key(1)).allowed());

    CHECK_FALSE(admit_one(limit, 1, at(950ms, -500ms), key(1)).allowed());
    REQUIRE(admit_one(limit, 1, at(1s, -500ms), key(1)).allowed());
    CHECK(admit_one(limit, 1, at(1s, -500ms), key(1)).retry_after == 1500ms);
}

TEST_CASE("a shard without room makes room in another as soon as a window there is over") {
    Limit limit{keyed_window(60s, 5000)};
    limit.set_max_keys(2);
    REQUIRE(admit_one(limit, 1, at(0s), last_shard(1)).allowed());
    REQUIRE(admit_one(limit, 1, at(5s), last_shard(2)).allowed());

    CHECK_FALSE(taken(limit, at(10s), first_shard(3)));
    CHECK_FALSE(taken(limit, at(60s - 1ns), first_shard(4)));
    CHECK(taken(limit, at(60s), first_shard(5)));
    CHECK_FALSE(taken(limit, at(60s), first_shard(6)));
    CHECK(taken(limit, at(65s), first_shard(7)));
}

TEST_CASE("a step forward of the wall clock makes room in every shard") {
    Limit limit{keyed_window(60s, 5000, Anchor::clock)};
    limit.set_max_keys(1);
    REQUIRE(admit_one(limit, 1, at(0s), last_shard(1)).allowed());
    REQUIRE_FALSE(taken(limit, at(1s), first_shard(2)));

    CHECK(taken(limit, at(2s, 60s), first_shard(2)));
}
