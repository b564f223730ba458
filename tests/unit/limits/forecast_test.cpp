// What a limit remembers of its complete windows, and what another number would have refused of
// them.
#include "fixture.hpp"
#include "limits/forecast/forecast.hpp"
#include "limits/forecast/past_windows.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace stint::limits::test {

namespace {

Past past_with(const Limit& limit, std::uint64_t quota, const Now& now) {
    return past_of(limit, {.quota = quota, .burst = 0}, now);
}

Forecast with(const Past& past, std::uint64_t quota) {
    return forecast(past, [quota](std::optional<Hash128>) {
        return ForecastRule{.admits = quota, .full_from = 5, .exact = true};
    });
}

std::uint64_t would_refuse(const Forecast& seen, Hash128 key) {
    for (const KeyForecast& each : seen.keys)
        if (each.key == key)
            return each.would_refuse;
    return 0;
}

ForecastTerms
terms(Algorithm algorithm, Duration per, std::uint64_t quota, std::uint64_t burst = 0) {
    ForecastTerms made;
    made.identity.algorithm = algorithm;
    made.identity.per = per;
    made.numbers = {quota, burst};
    return made;
}

} // namespace

TEST_CASE("a number above all counts surely refuses nothing, however large it is") {
    limits::CountBins bins;
    for (int i = 0; i < 16; ++i)
        bins.add(std::uint64_t{1} << 40);
    CHECK(bins.refused_by(std::uint64_t{1} << 60).least == 0); // times 16 is no number of 64 bits
    CHECK(bins.refused_by((std::uint64_t{1} << 40) - 1).least == 16);
}

TEST_CASE("a window is remembered when it is over, with what it admitted") {
    for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
        Limit limit{keyed_window(10s, 100'000, anchor)};
        for (int i = 0; i < 7; ++i)
            (void)admit_one(limit, 5, at(1s), key(1));
        (void)admit_one(limit, 5, at(1s), key(2));
        CHECK(past_with(limit, 5, at(2s)).windows.listed().empty()); // still open
        // The counter stands in the table until another key needs its place, or its own key comes.
        const Past idle = past_with(limit, 5, at(11s));
        (void)admit_one(limit, 5, at(11s), key(1));
        const Past used_anew = past_with(limit, 5, at(11s));
        for (const Past& past : {idle, used_anew}) {
            const Forecast lower = with(past, 3);
            CHECK(lower.at_least == 2); // beside the two that are refused already
            CHECK(lower.most == 2);
            CHECK(lower.full == 1);
            REQUIRE(lower.keys.size() == 1);
            CHECK(lower.keys[0].counted == 5);
            CHECK(lower.keys[0].would_refuse == 2);
            const Forecast higher = with(past, 6);
            CHECK(higher.at_least == 0);
            CHECK(higher.most == 0);
            REQUIRE(higher.keys.size() == 1); // may have asked for more
            CHECK(higher.keys[0].full == 1);
        }
    }
}

TEST_CASE("a limit without a key remembers its window once") {
    for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
        Limit limit{window(10s, anchor)};
        for (int i = 0; i < 4; ++i)
            (void)admit_one(limit, 9, at(1s));
        for (int i = 0; i < 2; ++i)
            (void)admit_one(limit, 9, at(12s));
        const Forecast seen = with(past_with(limit, 9, at(13s)), 1);
        CHECK(seen.windows == 1);
        CHECK(seen.at_least == 3);
        CHECK(with(past_with(limit, 9, at(25s)), 1).at_least == 4);
    }
}

TEST_CASE("windows are forgotten after eight lengths") {
    Limit limit{keyed_window(10s, 100)};
    for (int i = 0; i < 4; ++i)
        (void)admit_one(limit, 9, at(0s), key(1));
    for (int i = 0; i < 2; ++i)
        (void)admit_one(limit, 9, at(20s), key(1));
    CHECK(past_with(limit, 9, at(80s)).windows.listed().size() == 2);
    CHECK(with(past_with(limit, 9, at(80s)), 3).at_least == 1);
    CHECK(with(past_with(limit, 9, at(100s)), 3).at_least == 0);
    // Over for longer before its counter is used anew.
    Limit idle{keyed_window(10s, 100)};
    for (int i = 0; i < 4; ++i)
        (void)admit_one(idle, 9, at(0s), key(1));
    (void)admit_one(idle, 9, at(500s), key(1));
    CHECK(past_with(idle, 9, at(500s)).windows.listed().empty());
}

TEST_CASE("a counter that is swept is remembered, and a single request is not") {
    Limit limit{keyed_window(10s, 2)};
    (void)admit_one(limit, 9, at(0s), key(1));
    for (int i = 0; i < 3; ++i)
        (void)admit_one(limit, 9, at(0s), key(2));
    (void)admit_one(limit, 9, at(10s), key(3)); // sweeps, or takes over
    (void)admit_one(limit, 9, at(10s), key(4));
    const Forecast seen = with(past_with(limit, 9, at(11s)), 1);
    CHECK(seen.windows == 1);
    CHECK(would_refuse(seen, key(2)) == 2);
}

TEST_CASE("a dry run is told as if it refused") {
    Limit limit{keyed_window(10s, 100)};
    for (int i = 0; i < 9; ++i)
        (void)admit_all({{.limit = &limit, .key = key(1), .quota = 5, .enforce = false}}, at(0s));
    const Forecast seen = with(past_with(limit, 5, at(10s)), 4);
    CHECK(seen.counted == 5);
    CHECK(seen.full == 1);
    CHECK(seen.at_least == 1);
}

TEST_CASE("a forgotten key's window is not remembered") {
    Limit limit{keyed_window(10s, 100)};
    for (int i = 0; i < 5; ++i)
        (void)admit_one(limit, 5, at(0s), key(1));
    CHECK(limit.forget(key(1), at(1s)));
    for (int i = 0; i < 2; ++i)
        (void)admit_one(limit, 5, at(2s), key(1));
    CHECK(with(past_with(limit, 5, at(12s)), 1).counted == 2);
}

TEST_CASE("keys are told by their refusals, then by their full windows") {
    Past past;
    for (const auto& [number, counted] : {std::pair{1, 4U}, {2, 9U}, {3, 5U}, {4, 2U}})
        past.windows.add(WindowCount{key(static_cast<std::uint64_t>(number)), counted});
    const auto told = [&](std::uint64_t quota) {
        std::vector<Hash128> keys;
        for (const KeyForecast& each : with(past, quota).keys)
            keys.push_back(each.key);
        return keys;
    };
    CHECK(told(3) == std::vector{key(2), key(3), key(1)});
    CHECK(told(6).front() == key(2));
    CHECK(told(6).back() == key(3)); // refused nothing, but its window is full
    CHECK(told(6).size() == 2);
}

TEST_CASE("sliding windows tell the last span of their length, buckets and caps the present use") {
    LimitSpec spec = keyed_window(10s, 100);
    spec.identity.algorithm = Algorithm::sliding_window;
    Limit sliding{spec};
    spec.identity.algorithm = Algorithm::token_bucket;
    Limit bucket{spec};
    Limit slots{keyed_cap(100)};
    std::vector<Decision> held;
    for (int i = 0; i < 5; ++i) {
        (void)admit_one(sliding, 9, at(i * 1s), key(1));
        (void)admit_one(bucket, 10, at(0s), key(1));
        held.push_back(admit_one(slots, 9, at(0s), key(1)));
    }
    CHECK(with(past_with(sliding, 9, at(5s)), 3).at_least == 2);
    CHECK(with(past_with(sliding, 9, at(12s)), 1).at_least == 1); // 3 s and 4 s are left
    CHECK(with(past_with(bucket, 10, at(0s)), 3).at_least == 2);
    CHECK(with(past_with(bucket, 10, at(2s)), 3).at_least == 0); // two were refilled
    CHECK(with(past_with(slots, 9, at(0s)), 3).at_least == 2);
    held.clear();
    CHECK(with(past_with(slots, 9, at(0s)), 3).at_least == 0);
}

TEST_CASE("what a window of the past can admit under other terms") {
    const auto fixed = terms(Algorithm::fixed_window, 60s, 100);
    const auto rule = [&](const ForecastTerms& a, const ForecastTerms& b) { return rule_of(a, b); };
    CHECK(rule(fixed, terms(Algorithm::fixed_window, 60s, 50))->admits == 50);
    CHECK(rule(fixed, terms(Algorithm::fixed_window, 60s, 50))->exact);
    CHECK(rule(fixed, terms(Algorithm::fixed_window, 60s, 50))->full_from == 100);
    // A minute lies in two hours at most, and in four windows of 20 s.
    CHECK(rule(fixed, terms(Algorithm::fixed_window, 3600s, 50))->admits == 100);
    CHECK(rule(fixed, terms(Algorithm::fixed_window, 20s, 10))->admits == 40);
    CHECK_FALSE(rule(fixed, terms(Algorithm::fixed_window, 20s, 10))->exact);
    CHECK(rule(fixed, terms(Algorithm::sliding_window, 60s, 50))->admits == 50);
    CHECK_FALSE(rule(fixed, terms(Algorithm::sliding_window, 60s, 50))->exact);
    CHECK(rule(fixed, terms(Algorithm::token_bucket, 60s, 50, 7))->admits == 57);
    CHECK_FALSE(rule(fixed, terms(Algorithm::concurrency, {}, 5)).has_value());
    const auto bucket = terms(Algorithm::token_bucket, 60s, 100, 20);
    CHECK(rule(bucket, terms(Algorithm::token_bucket, 60s, 100, 5))->admits == 5);
    CHECK(rule(bucket, terms(Algorithm::token_bucket, 60s, 100, 5))->full_from == 20);
    CHECK_FALSE(rule(bucket, terms(Algorithm::token_bucket, 60s, 101, 5)).has_value());
    CHECK_FALSE(rule(bucket, fixed).has_value());
    CHECK(
        rule(terms(Algorithm::concurrency, {}, 5), terms(Algorithm::concurrency, {}, 3))->admits ==
        3);
    ForecastTerms paced = terms(Algorithm::fixed_window, 60s, 50);
    paced.pace = true;
    CHECK_FALSE(rule(fixed, paced)->exact);
    ForecastTerms dear = terms(Algorithm::fixed_window, 60s, 100);
    dear.cost = 7;
    CHECK(rule(fixed, dear)->admits == 14); // requests
    CHECK(rule(dear, fixed)->full_from == 94);
    CHECK(rule(dear, dear)->admits == 98); // whole requests
    ForecastTerms months = terms(Algorithm::fixed_window, 31 * 24h, 100);
    months.identity.anchor = Anchor::clock;
    months.identity.time_zone = "UTC";
    months.identity.unit = CalendarUnit::month;
    // From the last of January to the first of March.
    CHECK(rule(terms(Algorithm::fixed_window, 30 * 24h, 100), months)->admits == 300);
    ForecastTerms other_key = fixed;
    other_key.identity.key = "client_ip";
    CHECK_FALSE(rule(fixed, other_key).has_value());
}

TEST_CASE("a histogram of windows bounds what a number refuses") {
    CountBins bins;
    for (std::uint64_t counted = 1; counted <= 1000; ++counted)
        bins.add(counted);
    CHECK(bins.total().windows == 1000);
    CHECK(bins.total().sum == 500'500);
    for (std::uint64_t quota = 1; quota <= 1100; ++quota) {
        const std::uint64_t over = quota < 1000 ? 1000 - quota : 0;
        const std::uint64_t refused = over * (over + 1) / 2;
        const Bounds bounds = bins.refused_by(quota);
        CHECK(bounds.least <= refused);
        CHECK(refused <= bounds.most);
        // A quarter of the width for each window of the bin, of which there are as many as it is
        // wide, at most an eighth of the quota.
        CHECK((bounds.most - bounds.least) * 4 <= quota * quota / 64 + 4);
        if (quota < 16)
            CHECK(bounds.least == bounds.most);
    }
}

TEST_CASE("a list keeps the windows with the highest counts, and sums up the rest") {
    WindowList list{8};
    for (std::uint64_t i = 0; i < 100; ++i)
        list.add(WindowCount{key(i), (i * 37) % 100});
    CHECK(list.listed().size() == 8);
    for (const WindowCount& window : list.listed())
        CHECK(window.counted >= 92);
    CHECK(list.rest().highest() >= 91);
    CHECK(list.rest().highest() <= 95);
    CHECK(list.rest().total().windows == 92);
    CHECK(list.rest().windows_from(92) <= 4); // those of its bin
    CHECK(list.rest().windows_from(80) >= 12);
    WindowList all{100};
    all.add(list);
    CHECK(all.listed().size() == 8);
    CHECK(all.rest().total().sum == list.rest().total().sum);
}

} // namespace stint::limits::test
