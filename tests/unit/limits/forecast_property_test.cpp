// A random log goes through the limiter under one number, and a forecast for another number is
// compared with the same log under that number.
#include "limits/forecast/forecast.hpp"
#include "random_history.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace stint::limits::test {

namespace {

struct Logged {
    Now at;
    Hash128 key;
};

struct Replayed {
    std::map<Hash128, std::uint64_t> refused;
    std::uint64_t total = 0;

    [[nodiscard]] std::uint64_t refused_of(Hash128 key) const {
        const auto found = refused.find(key);
        return found != refused.end() ? found->second : 0;
    }
};

// What random logs have contained and forecasts have told.
struct Seen {
    std::uint64_t exact_keys = 0; // that the other number refuses more
    std::uint64_t bounded = 0;    // forecasts with windows that were not listed, of two bounds
    std::uint64_t lower = 0;
    std::uint64_t higher = 0;
};

Replayed replay(Limit& limit, const std::vector<Logged>& log, std::uint64_t quota) {
    Replayed result;
    for (const Logged& request : log)
        if (!admit_one(limit, quota, request.at, request.key).allowed()) {
            ++result.refused[request.key];
            ++result.total;
        }
    return result;
}

class Trial {
  public:
    Trial(std::uint64_t seed, Seen& seen) : random_{seed}, seen_{seen} {}

    void run() {
        const LimitSpec spec = drawn_spec();
        const std::vector<Logged> log = drawn_log();
        // A window of a single request is left out, also if the number is 1 and it is full.
        const std::uint64_t present = 2 + random_() % 60;
        Limit limit{spec};
        const Replayed then = replay(limit, log, present);
        // Late enough that all windows are over, early enough that none is forgotten.
        const Past past = past_of(limit, {.quota = present, .burst = 0}, at(6 * per + 10s));
        for (int i = 0; i < 4; ++i)
            compare(spec, log, past, then, 1 + random_() % 60, present);
    }

  private:
    static constexpr Duration per = 10s;

    LimitSpec drawn_spec() {
        const Anchor anchor = random_() % 2 == 0 ? Anchor::first_request : Anchor::clock;
        return keyed_window(per, random_() % 2 == 0 ? 4'000 : 1'000'000, anchor);
    }

    // Five windows' time of requests: a few keys with many, and a crowd of keys with few, or of
    // more keys than are listed with many.
    std::vector<Logged> drawn_log() {
        const std::uint64_t kind = random_() % 6;
        const std::uint64_t crowd = kind == 0 ? 400 : kind < 3 ? 3'000 : 50;
        const int requests = kind == 0 ? 100'000 : 12'000;
        std::vector<Logged> log;
        for (int i = 0; i < requests; ++i) {
            const Duration when{static_cast<std::int64_t>(
                random_() % static_cast<std::uint64_t>((5 * per).count()))};
            const std::uint64_t number =
                random_() % 4 == 0 ? random_() % 12 : 100 + random_() % crowd;
            log.push_back({at(when), key(number)});
        }
        std::ranges::sort(log, {}, [](const Logged& request) { return request.at.steady; });
        return log;
    }

    void compare(
        const LimitSpec& spec,
        const std::vector<Logged>& log,
        const Past& past,
        const Replayed& present,
        std::uint64_t other,
        std::uint64_t quota) {
        Limit limit{spec};
        const Replayed replayed = replay(limit, log, other);
        const Forecast told = forecast(past, [other, quota](std::optional<Hash128>) {
            return ForecastRule{.admits = other, .full_from = quota, .exact = true};
        });
        INFO("from ", quota, " to ", other, ", listed ", past.windows.listed().size());
        REQUIRE(told.most.has_value());
        CHECK(told.others.least <= told.others.most);
        if (other >= quota) {
            CHECK(told.at_least == 0);
            CHECK(*told.most == 0);
            CHECK(present.total - replayed.total <= told.full * (other - quota));
            ++seen_.higher;
            return;
        }
        const std::uint64_t more = replayed.total - present.total;
        CHECK(told.at_least <= more);
        CHECK(more <= *told.most);
        const bool complete = other >= told.unlisted;
        for (const KeyForecast& each : told.keys) {
            const std::uint64_t more_of_key =
                replayed.refused_of(each.key) - present.refused_of(each.key);
            CHECK(each.would_refuse <= more_of_key);
            if (complete)
                CHECK(each.would_refuse == more_of_key);
            seen_.exact_keys += complete && more_of_key > 0 ? 1 : 0;
        }
        if (complete)
            CHECK(told.at_least == more);
        seen_.bounded += told.others.least < told.others.most ? 1 : 0;
        ++seen_.lower;
    }

    std::mt19937_64 random_;
    Seen& seen_;
};

} // namespace

TEST_CASE("a forecast tells what a replay under the other number refuses more") {
    Seen seen;
    for_each_seed(30, [&](std::uint64_t seed) { Trial{seed, seen}.run(); });
    if (std::getenv("STINT_SEED") != nullptr)
        return;
    CHECK(seen.exact_keys > 1'000);
    CHECK(seen.bounded > 0);
    CHECK(seen.lower > 20);
    CHECK(seen.higher > 20);
}

} // namespace stint::limits::test
