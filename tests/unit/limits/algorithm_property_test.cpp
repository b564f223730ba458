// Each algorithm against its naive twin: the same answers, to the nanosecond, through random costs,
// refunds and clocks.
#include "naive.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

class Duel {
  public:
    Duel(Algorithm algorithm, std::uint64_t seed)
        : random_{seed}, limit_{spec(algorithm)}, naive_{3, Naive{algorithm, per_}} {
        quota_ = below(4) == 0 ? 129 + below(400) : 1 + below(12);
        burst_ = below(2) == 0 ? quota_ : 1 + below(3 * quota_);
        pace_ = below(4) == 0;
    }

    void step() {
        move_clock();
        if (below(4) == 0 && !held_.empty())
            give_back();
        else
            request();
    }

    void check_bounds() const {
        for (const Naive& naive : naive_)
            REQUIRE((fixed() || pace_ || naive.bounded(bucket() ? burst_ : quota_, quota_)));
    }

    void forget() {
        for (Naive& naive : naive_)
            naive.forget(burst_, quota_, now_);
    }

  private:
    struct Held {
        Permit permit;
        std::size_t of;
        std::size_t number;
        std::uint64_t cost;
    };

    LimitSpec spec(Algorithm algorithm) {
        per_ = Duration{static_cast<std::int64_t>(1 + below(1'000'000'000))};
        if (below(2) == 0)
            per_ = std::max(Duration{1ms}, per_ / 1'000'000 * 1'000'000);
        algorithm_ = algorithm;
        LimitSpec spec = below(2) == 0 ? keyed_window(per_, 1000) : window(per_);
        spec.identity.algorithm = algorithm;
        return spec;
    }
    [[nodiscard]] bool bucket() const { return algorithm_ == Algorithm::token_bucket; }
    [[nodiscard]] bool fixed() const { return algorithm_ == Algorithm::fixed_window; }
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    void advance(std::int64_t by) {
        now_.steady += Duration{by};
        now_.wall += Duration{by};
    }

    // Stands still at times, and steps by about what one request is worth, or by whole windows.
    void move_clock() {
        const auto per = static_cast<std::uint64_t>(per_.count());
        if (below(3) == 0)
            return;
        advance(static_cast<std::int64_t>(below(2 * per / quota_ + 2)));
        if (below(60) == 0)
            advance(static_cast<std::int64_t>(below(3 * per)));
        now_.wall +=
            Duration{1ms} * static_cast<std::int64_t>(below(100)); // which says nothing here
    }

    void request() {
        const std::size_t of = limit_.keyed() ? below(naive_.size()) : 0;
        Naive::Ask ask{quota_, burst_, 1, pace_};
        if (below(3) == 0)
            ask.cost = 1 + below(below(10) == 0 ? 2 * quota_ : quota_ / 3 + 1);
        const Charge charge{
            .limit = &limit_,
            .key = key(of),
            .quota = quota_,
            .burst = burst_,
            .cost = ask.cost,
            .pace = pace_,
            .returnable = true};

        Decision decision = admit({&charge, 1}, now_);

        const Naive::Answer wanted = naive_[of].ask(ask, now_);
        REQUIRE(decision.refusal == wanted.refusal);
        REQUIRE(decision.retry_after.count() == wanted.wait);
        if (decision.allowed()) {
            const std::size_t number = naive_[of].charge(ask, now_);
            held_.push_back({std::move(decision.permit), of, number, ask.cost});
        } else if (decision.refusal != Refusal::cost && below(8) == 0) {
            advance(wanted.wait - 1);
            REQUIRE(admit({&charge, 1}, now_).retry_after == 1ns);
            advance(1);
            REQUIRE(naive_[of].ask(ask, now_).refusal == Refusal::none);
        }
        REQUIRE(limit_.state_of(charge, now_).used == naive_[of].used(quota_, now_));
    }

    void give_back() {
        const auto chosen = held_.begin() + static_cast<std::ptrdiff_t>(below(held_.size()));
        Held held = std::move(*chosen);
        held_.erase(chosen);
        const std::uint64_t actual = below(3) == 0 ? below(held.cost + 1) : 0;
        held.permit.settle(0, actual, now_);
        if (actual < held.cost)
            naive_[held.of].give_back(held.number, held.cost - actual, quota_, now_);
        if (held_.size() > 20)
            held_.erase(held_.begin(), held_.begin() + 10);
    }

    std::mt19937_64 random_;
    Now now_ = start;
    Duration per_{};
    Algorithm algorithm_ = Algorithm::fixed_window;
    Limit limit_;
    std::vector<Naive> naive_;
    std::uint64_t quota_ = 1;
    std::uint64_t burst_ = 1;
    bool pace_ = false;
    std::vector<Held> held_;
};

void duel(Algorithm algorithm) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        Duel history{algorithm, seed};
        for (int round = 0; round < 20; ++round) {
            for (int step = 0; step < 100; ++step)
                history.step();
            history.check_bounds();
            history.forget();
        }
    }
}

} // namespace

TEST_CASE("a fixed window answers as its naive twin does") {
    duel(Algorithm::fixed_window);
}

TEST_CASE("a sliding window answers as its naive twin does and never exceeds its quota in a span") {
    duel(Algorithm::sliding_window);
}

TEST_CASE("a token bucket answers as its naive twin does and never exceeds its burst and rate") {
    duel(Algorithm::token_bucket);
}
