#include "fixture.hpp"
#include "limits/counter/tally.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

std::vector<SavedPage> saved(Limit& limit, const Now& now) {
    std::vector<SavedPage> pages;
    for (std::size_t shard = 0; shard < limit.shards(); ++shard)
        limit.save(shard, limit.take_changed(shard), now, pages);
    return pages;
}

std::vector<RestoredPage> restorable(const std::vector<SavedPage>& pages) {
    std::vector<RestoredPage> all;
    for (const SavedPage& page : pages)
        all.push_back({page.page, page.bytes, 0ns});
    return all;
}

LimitSpec of(Algorithm algorithm, Duration per = 1s) {
    LimitSpec spec = keyed_window(per, 10);
    spec.identity.algorithm = algorithm;
    return spec;
}

Decision admit_burst(Limit& limit, std::uint64_t quota, std::uint64_t burst, const Now& now) {
    const Charge charge{.limit = &limit, .quota = quota, .burst = burst};
    return admit({&charge, 1}, now);
}

} // namespace

TEST_CASE("only what was charged or given back has changed") {
    Limit limit{keyed_window(1s, 1'000'000)};
    CHECK(saved(limit, at(0s)).empty());

    Charge charge{.limit = &limit, .key = key(1), .quota = 1, .refundable = true};
    Decision first = admit({&charge, 1}, at(0s));
    CHECK(saved(limit, at(0s)).size() == 1);
    CHECK(saved(limit, at(0s)).empty());

    CHECK_FALSE(admit_one(limit, 1, at(1ms), key(1)).allowed());
    CHECK(state(limit, at(1ms), key(1)).used == 1);
    CHECK(saved(limit, at(1ms)).empty());

    first.permit.refund(0, at(2ms));
    CHECK(saved(limit, at(2ms)).size() == 1);
}

TEST_CASE("pages that could not be written are given again") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 1, at(0s)).allowed());
    const std::uint64_t pages = limit.take_changed(0);
    CHECK(limit.take_changed(0) == 0);

    limit.mark_changed(0, pages);

    CHECK(limit.take_changed(0) == pages);
}

TEST_CASE("a page on which nothing counts any more is empty") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 1, at(0s)).allowed());

    const std::vector<SavedPage> pages = saved(limit, at(1s));

    REQUIRE(pages.size() == 1);
    CHECK(pages.front().bytes.empty());
}

TEST_CASE("a page says until when anything on it counts") {
    Limit limit{of(Algorithm::fixed_window)};
    REQUIRE(admit_one(limit, 1, at(0ms), key(1)).allowed());
    CHECK(saved(limit, at(0ms)).front().until == at(1s).steady);

    Limit bucket{of(Algorithm::token_bucket)};
    REQUIRE(admit_one(bucket, 4, at(0ms), key(1)).allowed());
    CHECK(saved(bucket, at(0ms)).front().until == at(250ms).steady);
}

TEST_CASE("a cap has nothing to save") {
    CHECK(Limit{cap()}.shards() == 0);
}

TEST_CASE("counts go on in a table of another size") {
    Limit former{keyed_window(1s, 1'000'000)};
    for (std::uint64_t i = 0; i < 1000; ++i)
        REQUIRE(admit_one(former, 1, at(0s), key(i)).allowed());
    const std::vector<SavedPage> pages = saved(former, at(0s));
    Limit next{keyed_window(1s, 700)};

    CHECK(next.restore(restorable(pages), at(1ms)));

    CHECK(next.live_keys(at(1ms)) == 1000); // as if max_keys had been lowered by a reload
    for (std::uint64_t i = 0; i < 1000; ++i)
        CHECK_FALSE(admit_one(next, 1, at(1ms), key(i)).allowed());
    CHECK(next.live_keys(at(1s)) == 0);
    for (std::uint64_t i = 0; i < 700; ++i)
        CHECK(admit_one(next, 1, at(1s), key(i)).allowed());
    CHECK(next.tally().overflowed() == 0);
}

TEST_CASE("what was restored has changed, so that it is written anew") {
    Limit former{keyed_window(1s, 10)};
    REQUIRE(admit_one(former, 1, at(0s), key(1)).allowed());
    const std::vector<SavedPage> pages = saved(former, at(0s));
    Limit next{keyed_window(1s, 10)};
    REQUIRE(next.restore(restorable(pages), at(0s)));

    const std::vector<SavedPage> again = saved(next, at(0s));

    REQUIRE(again.size() == 1);
    CHECK(again.front().bytes == pages.front().bytes);
}

TEST_CASE("no window that was restored lasts longer than its length") {
    Limit former{of(Algorithm::fixed_window)};
    REQUIRE(admit_one(former, 1, at(1h), key(1)).allowed());
    const std::vector<SavedPage> pages = saved(former, at(1h)); // a clock that is an hour ahead
    Limit next{of(Algorithm::fixed_window)};

    REQUIRE(next.restore(restorable(pages), at(0s)));

    CHECK(admit_one(next, 1, at(0s), key(1)).retry_after == 1s);
}

TEST_CASE("nonsense is left out") {
    for (const Algorithm algorithm :
         {Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::token_bucket}) {
        Limit former{of(algorithm)};
        REQUIRE(admit_one(former, 1, at(0s), key(1)).allowed());
        const std::string whole = saved(former, at(0s)).front().bytes;
        for (std::size_t length = 0; length < whole.size(); ++length) {
            Limit next{of(algorithm)};
            const RestoredPage page{0, std::string_view{whole}.substr(0, length), 0ns};
            const bool complete = next.restore({&page, 1}, at(0s));
            CHECK(complete == (length == 4)); // a page without counters
            CHECK(next.live_keys(at(0s)) == 0);
        }
        const std::string twice = whole + whole.substr(4);
        const RestoredPage page{0, twice, 0ns};
        Limit next{of(algorithm)};
        CHECK_FALSE(next.restore({&page, 1}, at(0s)));
        CHECK(next.live_keys(at(0s)) == 1);
    }
}

TEST_CASE("a window that its shard has left counts no more, however often it was saved") {
    LimitSpec spec = keyed_window(1s, 10, Anchor::clock);
    Limit former{spec};
    REQUIRE(admit_one(former, 1, at(100ms), key(1)).allowed());
    std::vector<SavedPage> pages = saved(former, at(100ms));
    // The wall clock is put forward past the window's end; its time on the other one is not over.
    REQUIRE(admit_one(former, 1, at(200ms, 1s), key(2)).allowed());
    for (SavedPage& page : saved(former, at(200ms, 1s)))
        pages.push_back(std::move(page));
    Limit next{spec};

    REQUIRE(next.restore(restorable(pages), at(300ms, 1s)));

    CHECK(next.live_keys(at(300ms, 1s)) == 1);
    CHECK_FALSE(admit_one(next, 1, at(300ms, 1s), key(2)).allowed());
    CHECK(admit_one(next, 1, at(300ms, 1s), key(1)).allowed());
}

TEST_CASE("a closed limit admits nothing until a window has passed") {
    for (const Algorithm algorithm :
         {Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::token_bucket}) {
        Limit limit{of(algorithm, 10s)};
        limit.close(at(0s));

        const Decision refused = admit_one(limit, 5, at(4s), key(1));
        CHECK(refused.refusal == Refusal::window);
        CHECK(refused.retry_after == 6s);
        CHECK(state(limit, at(4s), key(1)).remaining == 0);
        CHECK(state(limit, at(4s), key(1)).resets_in == 6s);
        CHECK(admit_one(limit, 5, at(10s - 1ns), key(1)).retry_after == 1ns);
        CHECK(state(limit, at(10s), key(1), 5).remaining == 5);
        for (int i = 0; i < 5; ++i)
            CHECK(admit_one(limit, 5, at(10s), key(1)).allowed());
        CHECK_FALSE(admit_one(limit, 5, at(10s), key(1)).allowed());
    }
}

TEST_CASE("a closed bucket opens when an empty one would be full") {
    Limit limit{of(Algorithm::token_bucket, 10s)};
    limit.close(at(0s));

    CHECK(admit_burst(limit, 5, 20, at(0s)).retry_after == 40s);
    CHECK(admit_burst(limit, 5, 1, at(0s)).retry_after == 10s);
    CHECK(admit_burst(limit, 5, 20, at(40s)).allowed());
}

TEST_CASE("a closed limit with the clock's windows opens with the next one") {
    SUBCASE("multiples of a length") {
        Limit limit{window(10s, Anchor::clock)}; // the fixture starts at a multiple of it
        limit.close(at(3s));
        CHECK(admit_one(limit, 5, at(4s)).retry_after == 6s);
        CHECK(admit_one(limit, 5, at(10s)).allowed());
    }
    SUBCASE("days") {
        LimitSpec spec = window(24h, Anchor::clock);
        spec.identity.time_zone = "UTC"; // the fixture starts at 22:13:20
        Limit limit{spec};
        limit.close(at(0s));
        CHECK(admit_one(limit, 5, at(0s)).retry_after == 1h + 46min + 40s);
    }
}

TEST_CASE("a closed limit still says what it never admits") {
    Limit limit{window(10s)};
    limit.close(at(0s));
    const Charge charge{.limit = &limit, .quota = 5, .cost = 6};

    CHECK(admit({&charge, 1}, at(0s)).refusal == Refusal::cost);
}

TEST_CASE("a closed limit with counts refuses for the longer time") {
    Limit former{window(10s)};
    REQUIRE(admit_one(former, 1, at(0s)).allowed());
    const std::vector<SavedPage> pages = saved(former, at(0s));
    Limit next{window(10s)};
    REQUIRE(next.restore(restorable(pages), at(2s)));
    next.close(at(2s));

    CHECK(admit_one(next, 1, at(3s)).retry_after == 9s);
}

TEST_CASE("a cap cannot be closed") {
    Limit limit{cap()};
    limit.close(at(0s));

    CHECK(admit_one(limit, 1, at(0s)).allowed());
}
