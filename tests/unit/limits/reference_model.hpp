// The limits once more, naively: each counter remembers what was charged to it and looks at all of
// it. No slots, shards or locks. What admit() answers must be what this answers, to the nanosecond.
#pragma once

#include "reference_counters.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

namespace stint::limits::test::model {

// One limit: a counter for each key.
class LimitModel {
  public:
    explicit LimitModel(const LimitSpec& spec)
        : algorithm_{spec.identity.algorithm}, keyed_{!spec.identity.key.empty()},
          clocked_{!is_cap() && spec.identity.anchor == Anchor::clock},
          per_{spec.identity.per.count()} {}

    [[nodiscard]] bool is_cap() const { return algorithm_ == Algorithm::concurrency; }
    [[nodiscard]] bool keyed() const { return keyed_; }

    // looking: nothing changes.
    Answer ask(std::uint64_t key, const Ask& of, const Now& now, bool looking = false) {
        if (clocked_)
            clock_.look(now, per_);
        Counter& asked = counter(key);
        forget_share(key, now);
        const Ask narrow = narrowed(key, of);
        Answer answer;
        if (lacks_share(key, of))
            answer = without_share(asked, narrow, of, now);
        else
            answer = looking ? asked.look(narrow, ns(now)) : asked.ask(narrow, ns(now));
        if (answer.refusal == Refusal::cap)
            answer.wait =
                mean_hold_ == 0
                    ? ns(1s)
                    : std::max(mean_hold_ / std::max(signed_of(narrow.quota), 1L), ns(1ms));
        return answer;
    }
    void charge(std::uint64_t key, const Ask& of, const Now& now, Id id) {
        counter(key).charge(narrowed(key, of), ns(now), id);
    }

    void set_share(std::uint64_t key, const Share& share, const Now& now) {
        if (clocked_)
            clock_.look(now, per_);
        const Numbers& of = share.numbers;
        shares_[keyed_ ? key : 0] = {share, ns(now)};
        counter(key).lower({of.quota, of.burst > 0 ? of.burst : of.quota}, ns(now));
    }
    [[nodiscard]] std::optional<Numbers> share(std::uint64_t key, const Now& now) const {
        const auto found = shares_.find(keyed_ ? key : 0);
        return found != shares_.end() && good(key, found->second, now)
                   ? std::optional{found->second.share.numbers}
                   : std::nullopt;
    }
    // The whole share is less than the cost, which waits for a larger one.
    [[nodiscard]] bool lacks_share(std::uint64_t key, const Ask& of) const {
        return shares_.contains(keyed_ ? key : 0) && of.cost > most(narrowed(key, of)) &&
               of.cost <= most(of);
    }
    [[nodiscard]] bool share_ends(std::uint64_t key) const {
        const auto found = shares_.find(keyed_ ? key : 0);
        return found != shares_.end() && found->second.share.until != SteadyTime::max();
    }
    [[nodiscard]] std::uint64_t remaining(std::uint64_t key, const Ask& of, const Now& now) const {
        const Ask narrow = narrowed(key, of);
        const std::uint64_t all = algorithm_ != Algorithm::token_bucket || narrow.burst == none
                                      ? narrow.quota
                                      : narrow.burst;
        const std::uint64_t taken = used(key, of.quota, now);
        return all > taken ? all - taken : 0;
    }
    void give_back(std::uint64_t key, Id id, std::uint64_t cost, const Now& now) {
        counter(key).give_back(id, cost, ns(now));
    }
    // A slot of this cap was held so long. The mean moves by an eighth towards it.
    void learn(Duration held) {
        const std::int64_t sample = std::max<std::int64_t>(held.count(), 1);
        mean_hold_ += mean_hold_ == 0 ? sample : (sample - mean_hold_) / 8;
    }

    [[nodiscard]] std::uint64_t used(std::uint64_t key, std::uint64_t quota, const Now& now) const {
        const auto found = counters_.find(keyed_ ? key : 0);
        const bool over = clocked_ && !clock_.open_at(now, per_);
        return over || found == counters_.end() ? 0 : found->second->used(quota, ns(now));
    }
    [[nodiscard]] std::uint64_t live_keys(const Now& now) const {
        if (!keyed_ || (clocked_ && !clock_.open_at(now, per_)))
            return 0;
        return static_cast<std::uint64_t>(std::ranges::count_if(
            counters_, [&](const auto& each) { return each.second->live(ns(now)); }));
    }

  private:
    struct Held {
        Share share;
        std::int64_t since;
    };
    static constexpr std::uint64_t none = 0;

    // The most that a charge may cost.
    [[nodiscard]] std::uint64_t most(const Ask& of) const {
        return algorithm_ != Algorithm::token_bucket || of.pace || of.quota == 0 ? of.quota
                                                                                 : of.most();
    }
    [[nodiscard]] Ask narrowed(std::uint64_t key, Ask of) const {
        const auto found = shares_.find(keyed_ ? key : 0);
        if (found == shares_.end())
            return of;
        const Numbers& part = found->second.share.numbers;
        const std::uint64_t burst = of.burst > 0 ? of.burst : of.quota;
        of.quota = std::min(of.quota, part.quota);
        of.burst = std::min(burst, part.burst > 0 ? part.burst : part.quota);
        return of;
    }
    [[nodiscard]] bool good(std::uint64_t key, const Held& held, const Now& now) const {
        const auto& [share, since] = held;
        if (share.until != SteadyTime::max())
            return now.steady < share.until;
        return is_cap() || lives(key, now) || ns(now) < since + per_;
    }
    [[nodiscard]] bool lives(std::uint64_t key, const Now& now) const {
        const auto found = counters_.find(keyed_ ? key : 0);
        const bool over = clocked_ && !clock_.open_at(now, per_);
        return !over && found != counters_.end() && found->second->live(ns(now));
    }
    void forget_share(std::uint64_t key, const Now& now) {
        const auto found = shares_.find(keyed_ ? key : 0);
        if (found != shares_.end() && !good(key, found->second, now))
            shares_.erase(found);
    }
    Answer without_share(Counter& asked, const Ask& narrow, const Ask&, const Now& now) const {
        asked.raise(narrow, ns(now));
        if (is_cap())
            return {Refusal::cap, 0};
        const std::int64_t wait = asked.opens_in(ns(now));
        return {Refusal::window, wait > 0 ? wait : per_};
    }
    Counter& counter(std::uint64_t key) {
        std::unique_ptr<Counter>& counter = counters_[keyed_ ? key : 0];
        if (counter == nullptr)
            counter = made();
        return *counter;
    }
    [[nodiscard]] std::unique_ptr<Counter> made() const {
        switch (algorithm_) {
        case Algorithm::fixed_window:
            return std::make_unique<FixedWindow>(per_, clocked_ ? &clock_ : nullptr);
        case Algorithm::sliding_window:
            return std::make_unique<SlidingWindow>(per_);
        case Algorithm::token_bucket:
            return std::make_unique<TokenBucket>(per_, keyed_);
        default:
            return std::make_unique<Cap>();
        }
    }

    Algorithm algorithm_;
    bool keyed_;
    bool clocked_;
    std::int64_t per_;
    SharedWindow clock_;
    std::map<std::uint64_t, std::unique_ptr<Counter>> counters_;
    std::map<std::uint64_t, Held> shares_;
    std::int64_t mean_hold_ = 0;
};

// One charge of a request.
struct Asked {
    LimitModel* limit;
    std::uint64_t key;
    Ask ask;
    bool enforce = true;
};

struct Outcome {
    Refusal refusal = Refusal::none;
    std::size_t refused_by = 0;
    std::int64_t wait = 0;
    std::uint32_t would_refuse = 0;

    [[nodiscard]] bool allowed() const { return refusal == Refusal::none; }
    friend bool operator==(const Outcome&, const Outcome&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
        static constexpr const char* names[] = {"none", "window", "pace",
                                                "cap",  "cost",   "table_full"};
        return out << names[static_cast<std::size_t>(outcome.refusal)] << " by charge "
                   << outcome.refused_by << ", retry after " << outcome.wait
                   << " ns, would refuse: " << outcome.would_refuse;
    }
};

inline Outcome outcome_of(const Decision& decision) {
    return {
        decision.refusal, decision.refused_by, decision.retry_after.count(), decision.would_refuse};
}

// Of those that refuse the one to wait for longest; the first of equals.
inline Outcome judge(const std::vector<Asked>& asked, const Now& now, bool looking = false) {
    Outcome outcome;
    std::uint32_t looking_on = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const Answer answer = asked[i].limit->ask(asked[i].key, asked[i].ask, now, looking);
        if (answer.refusal == Refusal::none)
            continue;
        if (!asked[i].enforce)
            looking_on |= std::uint32_t{1} << i;
        else if (outcome.allowed() || answer.wait > outcome.wait)
            outcome = {answer.refusal, i, answer.wait, 0};
    }
    if (outcome.allowed())
        outcome.would_refuse = looking_on;
    return outcome;
}

// Charge i can be given back as number `first` + i.
inline Outcome admit(const std::vector<Asked>& asked, const Now& now, Id first) {
    const Outcome outcome = judge(asked, now);
    for (std::size_t i = 0; outcome.allowed() && i < asked.size(); ++i)
        if ((outcome.would_refuse >> i & 1U) == 0)
            asked[i].limit->charge(asked[i].key, asked[i].ask, now, first + i);
    return outcome;
}

// What an admitted request holds, as a Permit does.
struct PermitModel {
    std::vector<Asked> asked;
    Id first = 0;
    std::uint32_t not_charged = 0;
    Now since{};

    [[nodiscard]] bool charged(std::size_t i) const { return (not_charged >> i & 1U) == 0; }

    void settle(std::size_t i, std::uint64_t actual, const Now& now) {
        Ask& of = asked[i].ask;
        if (asked[i].limit->is_cap() || !charged(i) || of.cost <= actual)
            return;
        asked[i].limit->give_back(asked[i].key, first + i, of.cost - actual, now);
        of.cost = actual;
    }
    // learns: as a cap does from what ended in order.
    void release(const Now& now, bool learns) {
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (!asked[i].limit->is_cap() || !charged(i))
                continue;
            if (learns)
                asked[i].limit->learn(now.steady - since.steady);
            asked[i].limit->give_back(asked[i].key, first + i, asked[i].ask.cost, now);
            not_charged |= std::uint32_t{1} << i; // once is enough
        }
    }
};

} // namespace stint::limits::test::model
