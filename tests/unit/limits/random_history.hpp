// What the property tests share: seeds, dice, limits and their numbers, and clocks that stand,
// creep, jump and are set.
#pragma once

#include "reference_model.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace stint::limits::test {

// Runs history(seed) for the seeds 1 to `count`; for STINT_SEED alone, if it is set; for
// STINT_SEEDS times as many, if that is.
template <class History>
void for_each_seed(std::uint64_t count, History history) {
    const auto number = [](const char* name) {
        const char* const text = std::getenv(name);
        return text != nullptr ? std::stoull(text) : 0ULL;
    };
    const std::uint64_t only = number("STINT_SEED");
    const std::uint64_t last = count * std::max<std::uint64_t>(number("STINT_SEEDS"), 1);
    for (std::uint64_t seed = only > 0 ? only : 1; seed <= (only > 0 ? only : last); ++seed) {
        INFO("STINT_SEED=", seed, " repeats this history");
        history(seed);
    }
}

template <class History>
void run_steps(History& history, int steps) {
    for (int step = 0; step < steps; ++step) {
        INFO("operation ", step);
        history.step();
    }
}

// Runs a history of each seed, and returns what all of them have counted. STINT_SEED selects one
// history, whose counts meet no bound: then nothing is returned.
template <class History, class Count>
std::optional<Count> run_counted(std::uint64_t seeds, int steps) {
    Count count;
    for_each_seed(seeds, [&](std::uint64_t seed) {
        History history{seed, count};
        run_steps(history, steps);
    });
    if (std::getenv("STINT_SEED") != nullptr)
        return std::nullopt;
    return count;
}

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_{seed} {}

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool one_in(std::uint64_t of) { return below(of) == 0; }
    Duration shorter_than(Duration length) {
        return Duration{model::signed_of(
            below(std::max<std::uint64_t>(static_cast<std::uint64_t>(length.count()), 1)))};
    }
    template <class Container>
    auto& one_of(Container& container) {
        return container[below(container.size())];
    }

  private:
    std::mt19937_64 random_;
};

// What a configuration says of a limit, and an override of one key.
struct Settings {
    std::uint64_t quota = 1;
    std::uint64_t burst = 0;
    bool pace = false;
};

inline Settings random_settings(Dice& dice) {
    Settings numbers;
    numbers.quota = dice.one_in(8) ? 120 + dice.below(400) : 1 + dice.below(12);
    numbers.burst = dice.one_in(2) ? 0 : 1 + dice.below(3 * numbers.quota);
    numbers.pace = dice.one_in(5);
    return numbers;
}

// Of these numbers, or more than they are.
inline Numbers random_share(Dice& dice, const Settings& of) {
    Numbers share{dice.one_in(5) ? 0 : dice.below(of.quota + of.quota / 4 + 2), 0};
    if (dice.one_in(2))
        share.burst = dice.below(2 * share.quota + 2);
    return share;
}

inline std::uint64_t random_cost(Dice& dice, std::uint64_t quota) {
    return !dice.one_in(3) ? 1 : 1 + dice.below(dice.one_in(10) ? 2 * quota : quota / 3 + 1);
}

// `keys`: how many there may be.
inline LimitSpec random_limit(Dice& dice, std::uint64_t keys) {
    LimitSpec spec = cap();
    spec.identity.algorithm = static_cast<Algorithm>(dice.below(4));
    if (spec.identity.algorithm != Algorithm::concurrency) {
        spec.identity.per = 1ns + dice.shorter_than(1s);
        if (dice.one_in(2)) // so that boundaries coincide
            spec.identity.per = 1ms * static_cast<std::int64_t>(1 + dice.below(300));
    }
    if (spec.identity.algorithm == Algorithm::fixed_window && dice.one_in(2))
        spec.identity.anchor = Anchor::clock;
    if (spec.identity.anchor == Anchor::clock && dice.one_in(4)) { // by a calendar
        spec.identity.per = 24h;
        spec.identity.time_zone = "UTC";
    }
    if (dice.one_in(2))
        spec.identity.key = "client_ip";
    // Now and then several shards, of which each would have a clock window of its own.
    const bool sharded = dice.one_in(3) && spec.identity.anchor == Anchor::first_request;
    spec.max_keys = sharded ? 50'000 : keys + dice.below(4);
    return spec;
}

class Clocks {
  public:
    // set: whether the wall clock is set now and then.
    explicit Clocks(bool set = true) : set_{set} {}

    const Now& now() const { return now_; }

    // Something is said to happen so much later: a good moment to look again.
    void aim(Duration wait) {
        if (wait < 1'000h)
            edges_[aimed_++ % edges_.size()] = now_.steady + wait;
    }

    // Stands still at times.
    void move(Dice& dice, Duration per, std::uint64_t quota) {
        switch (dice.below(10)) {
        case 0:
            advance(1ns);
            break;
        case 1:
            advance(dice.shorter_than(9ms));
            break;
        case 2:
        case 3: // just before, at, or just after
            advance(
                dice.one_of(edges_) - now_.steady +
                Duration{static_cast<std::int64_t>(dice.below(3)) - 1});
            break;
        case 4:
        case 5: // about what a request is worth
            advance(dice.shorter_than(2 * per / model::signed_of(quota) + 2ns));
            break;
        case 6:
            jump(dice, per);
            break;
        default:
            break;
        }
        if (set_ && dice.one_in(25)) // often by a round number
            now_.wall += (dice.one_in(2) ? 50ms : Duration{123'457ns}) *
                         (static_cast<std::int64_t>(dice.below(41)) - 20);
    }

    void advance(Duration by) {
        if (by <= Duration::zero())
            return;
        now_.steady += by;
        now_.wall += by;
    }

  private:
    void jump(Dice& dice, Duration per) {
        if (dice.one_in(4))
            advance(dice.shorter_than(3 * per));
        else if (dice.one_in(30))
            advance(dice.shorter_than(24h * 400));
        else if (set_ && dice.one_in(30))
            now_.wall += dice.shorter_than(24h * 800) - 24h * 400;
        else
            advance(per / 128 + dice.shorter_than(5ns)); // a part of a large sliding window
    }

    bool set_;
    Now now_ = start;
    std::array<SteadyTime, 4> edges_{};
    std::size_t aimed_ = 0;
};

} // namespace stint::limits::test
