// Gateways that divide a limit and move shares of it by what Limit::use() says: all of them
// together keep what the whole limit promises.
#include "random_history.hpp"
#include "span_bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <numeric>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

constexpr std::uint64_t gateways = 3;

LimitSpec spec_of(Algorithm algorithm, Anchor anchor) {
    LimitSpec spec =
        window(algorithm == Algorithm::concurrency ? Duration{} : Duration{1s}, anchor);
    spec.identity.algorithm = algorithm;
    return spec;
}

// Each gateway's share, and how much of the limit it may still have used.
class Division {
  public:
    Division(std::uint64_t seed, Algorithm algorithm, Anchor anchor)
        : dice_{seed}, algorithm_{algorithm}, quota_{1 + dice_.below(20)} {
        for (std::uint64_t i = 0; i < gateways; ++i) {
            Part& part = parts_.emplace_back(spec_of(algorithm, anchor));
            set(part, 0);
        }
    }

    void step() {
        if (!dice_.one_in(3))
            now_ = {now_.steady + 1ms, now_.wall + 1ms};
        if (dice_.one_in(6)) // one is busy for a while, then another
            busy_ = dice_.below(gateways);
        switch (dice_.below(8)) {
        case 0:
            give_away(dice_.one_of(parts_));
            break;
        case 1:
        case 2:
            free_all();
            grow(parts_[busy_]);
            break;
        case 3:
            release_one();
            break;
        default:
            ask(parts_[dice_.one_in(4) ? dice_.below(gateways) : busy_]);
            break;
        }
        std::uint64_t in_flight = 0;
        for (const Part& part : parts_)
            in_flight += part.limit.in_flight();
        REQUIRE(in_flight <= quota_);
        now_.steady += dice_.one_in(50) ? dice_.shorter_than(2s) : 0ns;
    }

    [[nodiscard]] std::uint64_t quota() const { return quota_; }
    [[nodiscard]] const std::vector<std::pair<std::int64_t, std::uint64_t>>& admitted() const {
        return admitted_;
    }

  private:
    struct Part {
        explicit Part(const LimitSpec& spec) : limit{spec} {}
        Limit limit;
        std::uint64_t share = 0;
        std::uint64_t kept = 0; // the share, and what of a former one stands against it
    };

    [[nodiscard]] Charge charge(Part& part, std::uint64_t cost = 1) const {
        return {.limit = &part.limit, .quota = quota_, .cost = cost, .refundable = true};
    }
    void set(Part& part, std::uint64_t share) {
        part.share = share;
        REQUIRE(part.limit.set_share({}, {{share, 0}, now_.steady + 1'000h}, now_));
    }
    void give_away(Part& part) { set(part, part.share > 0 ? dice_.below(part.share) : 0); }
    void free_all() {
        for (Part& part : parts_) {
            const std::uint64_t use = part.limit.use(charge(part), now_);
            if (algorithm_ != Algorithm::token_bucket) {
                part.kept = std::max(part.share, std::min(part.kept, use));
            } else if (use <= part.share) {
                set(part, part.share);
                part.kept = part.share;
            }
        }
    }
    void grow(Part& part) {
        const std::uint64_t kept = std::accumulate(
            parts_.begin(), parts_.end(), std::uint64_t{0},
            [](std::uint64_t sum, const Part& each) { return sum + each.kept; });
        // A bucket that gives a part away must not get one meanwhile.
        if (kept >= quota_ || (algorithm_ == Algorithm::token_bucket && part.kept > part.share))
            return;
        const std::uint64_t more = 1 + dice_.below(quota_ - kept);
        part.kept += more;
        set(part, part.share + more);
    }
    void ask(Part& part) {
        const Charge asked = charge(part, 1 + dice_.below(dice_.one_in(3) ? 3 : 1));
        Decision decision = admit({&asked, 1}, now_);
        if (!decision.allowed())
            return;
        if (algorithm_ == Algorithm::concurrency) {
            held_.push_back(std::move(decision.permit));
            return;
        }
        admitted_.emplace_back(now_.steady.time_since_epoch().count(), asked.cost);
        if (!dice_.one_in(10))
            return;
        decision.permit.refund(0, now_);
        admitted_.back().second = 0;
    }
    void release_one() {
        if (!held_.empty())
            held_.pop_front();
    }

    Dice dice_;
    Algorithm algorithm_;
    std::uint64_t quota_;
    Now now_ = start;
    std::uint64_t busy_ = 0;
    std::deque<Part> parts_;
    std::deque<Permit> held_;
    std::vector<std::pair<std::int64_t, std::uint64_t>> admitted_; // when, and how much
};

// The most that was admitted in any span shorter than `span`.
std::uint64_t most_within(const Division& division, Duration span) {
    const auto& all = division.admitted();
    std::uint64_t most = 0;
    std::uint64_t sum = 0;
    std::size_t from = 0;
    for (const auto& [at, cost] : all) {
        for (; all[from].first <= at - span.count(); ++from)
            sum -= all[from].second;
        sum += cost;
        most = std::max(most, sum);
    }
    return most;
}

std::uint64_t run(Algorithm algorithm, Anchor anchor, std::uint64_t times_quota) {
    std::uint64_t fullest = 0; // in hundredths of the quota
    for_each_seed(300, [&](std::uint64_t seed) {
        Division division{seed, algorithm, anchor};
        run_steps(division, 4000);
        if (algorithm == Algorithm::concurrency)
            return;
        const std::uint64_t most = most_within(division, 1s);
        REQUIRE(most <= times_quota * division.quota());
        fullest = std::max(fullest, 100 * most / division.quota());
    });
    return fullest;
}

} // namespace

TEST_CASE("gateways with shares of a sliding window admit no more than the limit in any span") {
    CHECK(run(Algorithm::sliding_window, Anchor::first_request, 1) == 100);
}

TEST_CASE("gateways with shares of fixed windows admit no more than two windows in any span") {
    CHECK(run(Algorithm::fixed_window, Anchor::first_request, 2) > 150);
    CHECK(run(Algorithm::fixed_window, Anchor::clock, 2) > 150);
}

TEST_CASE("gateways with shares of a token bucket admit its burst and what refills it") {
    CHECK(run(Algorithm::token_bucket, Anchor::first_request, 2) > 100);
}

TEST_CASE("gateways with shares of a cap never have more in flight than it allows") {
    (void)run(Algorithm::concurrency, Anchor::first_request, 1);
}
