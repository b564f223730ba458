// What a key has used lately: the count is never too low.
#include "fixture.hpp"
#include "limits/counter/share_table.hpp"

#include <doctest/doctest.h>

#include <random>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

SteadyTime after(Duration time) {
    return at(time).steady;
}

} // namespace

TEST_CASE("the use of a window stops counting part by part") {
    RecentUse use;
    for (const Duration time : {0ms, 200ms, 400ms})
        use.add(1, 10, after(time), 1s);
    CHECK(use.within(1s, after(1s)) == 30);
    CHECK(use.within(1s, after(1126ms)) == 20); // the first eighth
    CHECK(use.within(1s, after(1251ms)) == 10);
    CHECK(use.within(1s, after(1399ms)) == 10);
    CHECK(use.within(1s, after(1400ms)) == 0); // no later than the latest admission
}

TEST_CASE("what is given back is taken from the earliest, as the others may have been later") {
    RecentUse use;
    use.add(1, 10, after(0ms), 1s);
    use.add(1, 10, after(500ms), 1s);
    use.take_back(1, 15);
    CHECK(use.within(1s, after(600ms)) == 5);
    CHECK(use.within(1s, after(1400ms)) == 5);
    use.take_back(7, 5); // another window
    CHECK(use.within(1s, after(1400ms)) == 5);
}

TEST_CASE("two windows count, and the former one as long as its latest admission") {
    RecentUse use;
    use.add(1, 10, after(0ms), 1s);
    use.add(1, 10, after(900ms), 1s);
    use.add(2, 30, after(1s), 1s);
    CHECK(use.within(1s, after(1100ms)) == 50);
    CHECK(use.within(1s, after(1900ms)) == 30);
    CHECK(use.within(1s, after(2s)) == 0);
}

TEST_CASE("random use is never counted too low") {
    std::mt19937_64 random{20};
    for (int round = 0; round < 300; ++round) {
        RecentUse use;
        std::vector<std::pair<SteadyTime, std::uint64_t>> all;
        SteadyTime window_begin = after(0ms);
        SteadyTime now = window_begin;
        std::int64_t window = 1;
        for (int step = 0; step < 200; ++step) {
            now += Duration{1ms} * (random() % (random() % 8 == 0 ? 900 : 60));
            if (now >= window_begin + 1s) {
                window += 1;
                window_begin = now;
            }
            const std::uint64_t count = random() % 4;
            use.add(window, count, now, 1s);
            all.emplace_back(now, count);
            now += Duration{1ms} * (random() % 1000);
            std::uint64_t counts = 0;
            for (const auto& [when, each] : all)
                counts += when + 1s > now ? each : 0;
            CHECK(use.within(1s, now) >= counts);
        }
    }
}
