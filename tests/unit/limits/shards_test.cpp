#include "fixture.hpp"
#include "limits/counter/shards.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

std::size_t made_in(const Shards& shards) {
    std::size_t made = 0;
    shards.visit_made([&](Shard&) { ++made; });
    return made;
}

// A key of the shard with this number, of 256.
Hash128 in_shard(std::uint64_t number) {
    return {number << 56U, key(number).low};
}

} // namespace

TEST_CASE("a shard is made with the first of its keys, and stays where it is") {
    Shards shards{256, concurrency_ops, {}};
    CHECK(made_in(shards) == 0);
    CHECK(&shards.for_reading(in_shard(7)) == &shards.for_reading(in_shard(8)));
    CHECK(made_in(shards) == 0);

    Shard& seventh = shards.of(in_shard(7));

    CHECK(made_in(shards) == 1);
    CHECK(seventh.number == 7);
    CHECK(shards.made(7) == &seventh);
    CHECK(shards.made(8) == nullptr);
    CHECK(&shards.of(in_shard(7)) == &seventh);
    CHECK(&shards.for_reading(in_shard(7)) == &seventh);
    CHECK(&shards.of(in_shard(255)) != &seventh);
    CHECK(made_in(shards) == 2);
}

TEST_CASE("a limit with one shard has the same one for every key") {
    Shards shards{1, concurrency_ops, {}};
    CHECK(made_in(shards) == 0);

    CHECK(&shards.of(in_shard(0)) == &shards.of(in_shard(255)));
    CHECK(made_in(shards) == 1);
}

TEST_CASE("looking at a limit makes no shard") {
    for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
        Limit limit{keyed_window(1s, 1'000'000, anchor)};
        REQUIRE(limit.shards() == Shards::most);

        CHECK(state(limit, at(0s), key(1)).used == 0);
        CHECK(state(limit, at(0s), key(1)).remaining == 100);
        CHECK(limit.use({.key = key(1), .quota = 100}, at(0s)) == 0);
        CHECK(limit.window_end({.key = key(1), .quota = 100}, at(0s)) > at(0s).steady);
        CHECK(limit.live_keys(at(0s)) == 0);
        CHECK(limit.forget(key(1), at(0s)));
        CHECK(limit.forget({}, at(0s)));
        std::vector<SavedPage> pages;
        for (std::size_t shard = 0; shard < limit.shards(); ++shard) {
            limit.mark_changed(shard, ~std::uint64_t{0});
            CHECK(limit.take_changed(shard) == 0); // a shard that is made has changed pages now
            limit.save(shard, ~std::uint64_t{0}, at(0s), pages);
        }
        CHECK(pages.empty());
    }
}
