// The limits once more, naively: whole maps, no shards, no slots, no locks. What admit() answers
// must be what this answers.
#pragma once

#include "fixture.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace stint::limits::test {

class Reference {
  public:
    explicit Reference(const LimitSpec& spec) : spec_{spec} {}

    struct Answer {
        Refusal refusal = Refusal::none;
        Duration wait{};
    };

    Answer ask(std::uint64_t of, std::uint64_t quota, const Now& now) {
        forget(now);
        const auto found = counts_.find(of);
        if (found == counts_.end() || found->second.used < quota)
            return {};
        return is_cap() ? Answer{Refusal::cap, estimate(quota)}
                        : Answer{Refusal::window, found->second.end - now.steady};
    }

    void charge(std::uint64_t of, const Now& now) {
        const SteadyTime end = is_cap()     ? SteadyTime::max()
                               : is_clock() ? clock_end_
                                            : now.steady + spec_.identity.per;
        ++counts_.try_emplace(of, Count{0, end}).first->second.used;
    }

    void release(std::uint64_t of, Duration held) {
        mean_ = mean_ == 0 ? std::max<std::int64_t>(held.count(), 1)
                           : mean_ + (std::max<std::int64_t>(held.count(), 1) - mean_) / 8;
        if (--counts_.at(of).used == 0)
            counts_.erase(of);
    }

    [[nodiscard]] std::uint64_t used(std::uint64_t of) const {
        const auto found = counts_.find(of);
        return found == counts_.end() ? 0 : found->second.used;
    }
    [[nodiscard]] std::uint64_t keys() const { return is_keyed() ? counts_.size() : 0; }
    [[nodiscard]] bool is_cap() const { return spec_.identity.algorithm == Algorithm::concurrency; }
    [[nodiscard]] bool is_keyed() const { return !spec_.identity.key.empty(); }
    [[nodiscard]] bool is_clock() const { return spec_.identity.anchor == Anchor::clock; }

    // Drops what is over. A clock window is shared by all keys.
    void forget(const Now& now) {
        if (is_clock() && !is_cap()) {
            const std::int64_t per = spec_.identity.per.count();
            std::int64_t ahead = 1; // the first multiple of `per` after the wall clock, in units
            while (now.wall.time_since_epoch().count() - base_ >= ahead * per)
                ++ahead;
            while (now.wall.time_since_epoch().count() - base_ < (ahead - 1) * per)
                --ahead;
            const bool stepped_past = ahead > clock_multiple_;
            if (clock_end_ > now.steady && !stepped_past)
                return;
            const auto steady_at = [&](std::int64_t multiple) {
                return now.steady +
                       (Duration{base_ + multiple * per} - now.wall.time_since_epoch());
            };
            if (!stepped_past)
                while (steady_at(ahead - 1) < clock_end_)
                    ++ahead;
            clock_end_ = steady_at(ahead);
            clock_multiple_ = ahead;
            counts_.clear();
        } else if (!is_cap()) {
            std::erase_if(
                counts_, [&](const auto& entry) { return entry.second.end <= now.steady; });
        }
    }

  private:
    struct Count {
        std::uint64_t used;
        SteadyTime end;
    };

    Duration estimate(std::uint64_t quota) const {
        if (mean_ == 0)
            return 1s;
        return std::max<Duration>(Duration{mean_ / static_cast<std::int64_t>(quota)}, 1ms);
    }
    LimitSpec spec_;
    std::map<std::uint64_t, Count> counts_;
    std::int64_t mean_ = 0;
    SteadyTime clock_end_{};
    std::int64_t clock_multiple_ = -1'000'000'000;
    // Multiples are counted from near the tests' start, so that the loops above are short.
    std::int64_t base_ = start.wall.time_since_epoch().count() /
                         std::max<std::int64_t>(spec_.identity.per.count(), 1) *
                         spec_.identity.per.count();
};

} // namespace stint::limits::test
