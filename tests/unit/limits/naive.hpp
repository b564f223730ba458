// One counter of each algorithm once more, naively: every admission is remembered for two windows'
// lengths, and each question looks at all of them.
#pragma once

#include "fixture.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace stint::limits::test {

__extension__ using Int = __int128;

inline std::int64_t ns(const Now& now) {
    return now.steady.time_since_epoch().count();
}

inline std::int64_t round_up(Int dividend, Int divisor) {
    return static_cast<std::int64_t>(
        dividend / divisor + (dividend % divisor > 0 ? 1 : 0)); // towards zero, then up
}

class Naive {
  public:
    struct Ask {
        std::uint64_t quota, burst, cost;
        bool pace;
    };
    struct Answer {
        Refusal refusal = Refusal::none;
        std::int64_t wait = 0;
    };

    Naive(Algorithm algorithm, Duration per) : algorithm_{algorithm}, per_{per.count()} {}

    Answer ask(const Ask& of, const Now& at) const {
        const std::int64_t now = ns(at);
        if (of.cost > (algorithm_ == Algorithm::token_bucket && !of.pace ? of.burst : of.quota))
            return {Refusal::cost, Duration::max().count()};
        switch (algorithm_) {
        case Algorithm::fixed_window:
            return ask_fixed(of, now);
        case Algorithm::sliding_window:
            return ask_sliding(of, now);
        default:
            return ask_bucket(of, now);
        }
    }

    // The number under which it can be given back.
    std::size_t charge(const Ask& of, const Now& at) {
        const std::int64_t now = ns(at);
        if (algorithm_ == Algorithm::fixed_window && end_ <= now)
            end_ = now + per_;
        std::int64_t group = static_cast<std::int64_t>(last_);
        if (const Event* last = newest(now); last != nullptr) {
            const std::int64_t part = std::max<std::int64_t>(per_ / 128, 1);
            const std::int64_t before = last_of(last->group);
            if (before == now || (of.quota > 128 && before / part == now / part))
                group = last->group;
        }
        paced_until_ = of.pace ? now + round_up(Int{per_} * of.cost, of.quota) : 0;
        paid_ = std::max(paid_, Int{now} * of.quota) + Int{per_} * of.cost;
        const auto owed_until = static_cast<std::int64_t>(paid_ / of.quota);
        events_.push_back({now, end_, group, of.cost, owed_until, returned_, ++last_});
        last_at_[group] = now;
        return last_;
    }

    void give_back(std::size_t number, std::uint64_t cost, std::uint64_t quota, const Now& at) {
        const std::int64_t now = ns(at);
        const auto found = std::ranges::find(events_, number, &Event::number);
        if (found == events_.end())
            return;
        Event& event = *found;
        if (algorithm_ == Algorithm::token_bucket) {
            std::int64_t owed = event.owed_until - (returned_ - event.returned);
            owed = std::min(owed, round_up(paid_, quota)) - now;
            const std::int64_t whole = round_up(Int{per_} * cost, quota);
            event.cost -= cost; // whatever of it time has paid for already
            if (owed <= 0)
                return;
            paid_ -= whole <= owed ? Int{per_} * cost : Int{owed} * quota;
            returned_ += std::min(whole, owed);
        } else if (
            algorithm_ == Algorithm::fixed_window ? event.end == end_
                                                  : last_of(event.group) + per_ > now) {
            event.cost -= cost;
            if (newest(now) == nullptr)
                paced_until_ = 0;
        }
    }

    // Drops what lies more than two windows, or what a bucket holds, before `at`.
    void forget(std::uint64_t burst, std::uint64_t quota, const Now& at) {
        const std::int64_t horizon =
            ns(at) - 2 * std::max(per_, round_up(Int{per_} * burst, quota));
        std::erase_if(events_, [&](const Event& event) { return event.at < horizon; });
    }

    [[nodiscard]] std::uint64_t used(std::uint64_t quota, const Now& at) const {
        const std::int64_t now = ns(at);
        if (algorithm_ == Algorithm::fixed_window)
            return used_fixed(now);
        if (algorithm_ == Algorithm::sliding_window)
            return used_sliding(now);
        return paid_ <= Int{now} * quota
                   ? 0
                   : static_cast<std::uint64_t>(round_up(paid_ - Int{now} * quota, per_));
    }

    // The most that was admitted, and not given back, beyond `rate`/per in any span.
    [[nodiscard]] bool bounded(std::uint64_t most, std::uint64_t quota) const {
        for (std::size_t from = 0; from < events_.size(); ++from) {
            Int sum = 0;
            for (std::size_t to = from; to < events_.size(); ++to) {
                sum += events_[to].cost;
                const Int span = events_[to].at - events_[from].at;
                if (algorithm_ == Algorithm::sliding_window
                        ? span < per_ && sum > most
                        : sum * per_ > Int{most} * per_ + span * quota)
                    return false;
            }
        }
        return true;
    }

  private:
    struct Event {
        std::int64_t at;
        std::int64_t end;   // of its fixed window
        std::int64_t group; // of those that share an instant in a sliding window
        std::uint64_t cost; // what has not been given back
        std::int64_t owed_until;
        std::int64_t returned;
        std::size_t number;
    };

    std::int64_t last_of(std::int64_t group) const { return last_at_.at(group); }
    // Of what still counts in a sliding window.
    const Event* newest(std::int64_t now) const {
        for (auto event = events_.rbegin(); event != events_.rend(); ++event)
            if (group_cost(event->group) > 0)
                return last_of(event->group) + per_ > now ? &*event : nullptr;
        return nullptr;
    }
    std::uint64_t group_cost(std::int64_t group) const {
        std::uint64_t sum = 0;
        for (const Event& event : events_)
            sum += event.group == group ? event.cost : 0;
        return sum;
    }
    std::uint64_t used_fixed(std::int64_t now) const {
        std::uint64_t sum = 0;
        for (const Event& event : events_)
            sum += event.end == end_ && end_ > now ? event.cost : 0;
        return sum;
    }
    std::uint64_t used_sliding(std::int64_t now) const {
        std::uint64_t sum = 0;
        for (const Event& event : events_)
            sum += last_of(event.group) + per_ > now ? event.cost : 0;
        return sum;
    }

    Answer ask_fixed(const Ask& of, std::int64_t now) const {
        const std::uint64_t used = used_fixed(now);
        if (used + of.cost > of.quota)
            return {Refusal::window, end_ - now};
        const std::int64_t turn = end_ - per_ + round_up(Int{per_} * used, of.quota);
        if (of.pace && used > 0 && turn > now)
            return {Refusal::pace, turn - now};
        return {};
    }
    Answer ask_sliding(const Ask& of, std::int64_t now) const {
        const bool full = used_sliding(now) + of.cost > of.quota;
        std::int64_t until = now;
        for (const Event& event : events_) { // one instant after the other
            if (used_sliding(until) + of.cost <= of.quota)
                break;
            until = std::max(until, last_of(event.group) + per_);
        }
        const bool early = of.pace && paced_until_ > now;
        if (early)
            until = std::max(until, paced_until_);
        return {full ? Refusal::window : early ? Refusal::pace : Refusal::none, until - now};
    }
    Answer ask_bucket(const Ask& of, std::int64_t now) const {
        const Int ahead = paid_ - Int{now} * of.quota;
        if (of.pace)
            return ahead > 0 ? Answer{Refusal::pace, round_up(ahead, of.quota)} : Answer{};
        const Int lacking = ahead - Int{per_} * (of.burst - of.cost);
        return ahead > 0 && lacking > 0 ? Answer{Refusal::window, round_up(lacking, of.quota)}
                                        : Answer{};
    }

    Algorithm algorithm_;
    std::int64_t per_;
    std::vector<Event> events_;
    std::size_t last_ = 0;
    std::map<std::int64_t, std::int64_t> last_at_; // of each group
    std::int64_t end_ = 0;
    std::int64_t paced_until_ = 0;
    Int paid_ = 0; // when all is paid, in 1/quota ns
    std::int64_t returned_ = 0;
};

} // namespace stint::limits::test
