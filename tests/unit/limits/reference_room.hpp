// The waiting room once more, naively: a line for each counter that made a request wait. The room
// must let the same requests go, refuse the same, at the same times, and tell them the same.
#pragma once

#include "limits/queue/admission_queue.hpp"
#include "reference_line.hpp"
#include "reference_model.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace stint::limits::test::model {

struct WaiterModel {
    int name = 0;
    std::vector<Asked> asked;
    std::vector<CounterId> counters; // of each charge
    std::vector<WaitTerms> terms;
    std::vector<int> flows;
    Id first = 0;
    std::size_t at = 0; // the charge it waits for
    SteadyTime deadline{};
};

class RoomModel {
  public:
    struct Decided {
        int name;
        Outcome outcome;
        friend bool operator==(const Decided&, const Decided&) = default;
        friend std::ostream& operator<<(std::ostream& out, const Decided& decided) {
            return out << "[" << decided.name << ": " << decided.outcome << "]";
        }
    };

    // True if it waits; otherwise it is the last of decided().
    bool enter(WaiterModel waiter, const Now& now) {
        const bool in_vain = std::ranges::any_of(waiter.asked, costs_more_than_one) &&
                             judge(waiter.asked, now).refusal == Refusal::cost;
        std::optional<std::int64_t> asked;
        if (const auto at = occupied(waiter, 0); at && !in_vain) {
            waiter.at = *at;
        } else {
            const Outcome outcome = admit(waiter.asked, now, waiter.first);
            waiter.at = outcome.refused_by;
            if (outcome.allowed() || !may_wait(waiter, outcome)) {
                decided_.push_back({waiter.name, outcome});
                return false;
            }
            asked = outcome.wait;
        }
        waiter.deadline = now.steady + waiter.terms[waiter.at].max_wait;
        const int name = waiter.name;
        waiting_.emplace(name, std::move(waiter));
        stand_in(name, asked, now);
        return waiting_.contains(name);
    }

    // Returns when there is something to do next.
    SteadyTime open(const Now& now) {
        for (auto next = earliest(); next != lines_.end() && next->second.due <= now.steady;
             next = earliest()) {
            const CounterId id = next->first;
            if (next->second.opens_at <= now.steady)
                serve(id, now);
            refuse(id, next->second.expire(now), now);
            file(id);
        }
        return lines_.empty() ? SteadyTime::max() : earliest()->second.due;
    }

    // A waiter leaves.
    void leave(int name) {
        const CounterId id = counter_of(waiting_.at(name));
        lines_.at(id).erase(name);
        waiting_.erase(name);
        file(id);
    }
    void freed(const CounterId& id) {
        if (!lines_.contains(id))
            return;
        lines_.at(id).open();
        file(id);
    }
    void requote(Limit& limit, const NumbersOf& numbers) {
        for (auto& [name, waiter] : waiting_)
            for (std::size_t i = 0; i < waiter.asked.size(); ++i)
                if (auto& asked = waiter.asked[i]; waiter.counters[i].limit == &limit) {
                    const Numbers now = numbers(std::to_string(asked.key));
                    asked.ask.quota = now.quota;
                    asked.ask.burst = now.burst;
                }
        for (auto& [id, line] : lines_) {
            if (id.limit != &limit)
                continue;
            const WaiterModel& next = waiting_.at(line.front().name);
            line.set_numbers(limit.identity(), next.asked[next.at].ask);
            freed(id);
        }
    }

    // The first in a line that its limits would let go now, with no waiter in the lines behind that
    // one. 0: no waiter is forgotten. After open().
    [[nodiscard]] int forgotten(const Now& now) const {
        for (const auto& [id, line] : lines_) {
            const int name = line.in_order().front().name;
            const WaiterModel& first = waiting_.at(name);
            const auto clocked = [](const CounterId& each) {
                return each.limit->identity().anchor == Anchor::clock;
            };
            if (std::ranges::any_of(first.counters, clocked))
                continue; // the wall clock may have been set past the window's end
            // One whose numbers differ changes what the others' turns are: it ends a pace, or
            // raises what pays a bucket off.
            if (id.limit->identity().algorithm == Algorithm::sliding_window ||
                id.limit->identity().algorithm == Algorithm::token_bucket)
                continue;
            if (!occupied(first, first.at + 1) && judge(first.asked, now, true).allowed())
                return name;
        }
        return 0;
    }

    [[nodiscard]] bool waits(int name) const { return waiting_.contains(name); }
    [[nodiscard]] std::size_t waiting(const Limit& limit) const {
        std::size_t sum = 0;
        for (const auto& [id, line] : lines_)
            sum += id.limit == &limit ? line.size() : 0;
        return sum;
    }
    [[nodiscard]] const std::vector<Decided>& decided() const { return decided_; }
    std::vector<Decided> collect() { return std::exchange(decided_, {}); }

  private:
    static CounterId counter_of(const WaiterModel& waiter) { return waiter.counters[waiter.at]; }
    static bool costs_more_than_one(const Asked& asked) { return asked.ask.cost > 1; }
    static bool may_wait(const WaiterModel& waiter, const Outcome& outcome) {
        return waiter.terms[outcome.refused_by].waits && outcome.refusal != Refusal::cost;
    }
    // The first charge, from that one on, for whose counter others wait: no waiter overtakes.
    [[nodiscard]] std::optional<std::size_t>
    occupied(const WaiterModel& waiter, std::size_t from) const {
        for (std::size_t i = from; i < waiter.asked.size(); ++i)
            if (waiter.terms[i].waits && lines_.contains(waiter.counters[i]))
                return i;
        return std::nullopt;
    }
    // asked: what its counter has just told it, if it was asked.
    void stand_in(int name, std::optional<std::int64_t> asked, const Now& now) {
        const WaiterModel& waiter = waiting_.at(name);
        const CounterId id = counter_of(waiter);
        const std::size_t at = waiter.at;
        const auto [place_of_line, is_new] = lines_.try_emplace(id);
        LineModel& line = place_of_line->second;
        line.set_numbers(id.limit->identity(), waiter.asked[at].ask);
        if (is_new)
            line.opens_after(*asked, name, waiter.asked[at].ask.cost, now);
        const Place place{name, waiter.flows[at], name, waiter.asked[at].ask.cost, waiter.deadline};
        refuse(id, line.join(place, waiter.terms[at].max_waiting, now), now);
        if (asked && !line.empty() && line.in_order().front().name == name)
            line.opens_after(*asked, name, waiter.asked[at].ask.cost, now);
        file(id);
    }
    void move_on(int name, std::size_t at, std::optional<std::int64_t> asked, const Now& now) {
        waiting_.at(name).at = at;
        stand_in(name, asked, now);
    }

    // In order until the counter refuses. A waiter that another limit refuses moves on to its line.
    void serve(const CounterId& id, const Now& now) {
        LineModel& line = lines_.at(id);
        while (!line.empty()) {
            const int name = line.front().name;
            WaiterModel& waiter = waiting_.at(name);
            if (const auto other = occupied(waiter, waiter.at + 1)) {
                line.erase(name);
                move_on(name, *other, std::nullopt, now);
                continue;
            }
            for (std::size_t i = 0; i < waiter.asked.size(); ++i)
                waiter.asked[i].ask.late = i == waiter.at ? line.late(id.limit->keyed(), now) : 0;
            const Outcome outcome = admit(waiter.asked, now, waiter.first);
            if (outcome.allowed()) {
                line.pop();
                decide(name, outcome);
            } else if (!may_wait(waiter, outcome)) {
                line.erase(name);
                decide(name, outcome);
            } else if (outcome.refused_by == waiter.at) {
                return line.opens_after(outcome.wait, name, waiter.asked[waiter.at].ask.cost, now);
            } else {
                line.erase(name);
                move_on(name, outcome.refused_by, outcome.wait, now);
            }
        }
    }

    void decide(int name, const Outcome& outcome) {
        decided_.push_back({name, outcome});
        waiting_.erase(name);
    }
    // They are told when a request would go that joined behind all waiters.
    void refuse(const CounterId& id, const std::vector<Place>& places, const Now& now) {
        const bool cap = id.limit->identity().algorithm == Algorithm::concurrency;
        for (const Place& place : places)
            decide(
                place.name, {cap ? Refusal::cap : Refusal::window, waiting_.at(place.name).at,
                             lines_.at(id).wait_behind_all(place.cost, now), 0});
    }

    using Lines = std::map<CounterId, LineModel>;
    Lines::iterator earliest() {
        return std::ranges::min_element(lines_, {}, [](const auto& each) {
            return std::pair{each.second.due, each.second.filed};
        });
    }
    void file(const CounterId& id) {
        LineModel& line = lines_.at(id);
        line.look_who_is_first();
        line.due = line.earliest();
        line.filed = ++filed_;
        if (line.empty())
            lines_.erase(CounterId{id});
    }

    Lines lines_; // none is empty
    std::map<int, WaiterModel> waiting_;
    std::vector<Decided> decided_;
    std::uint64_t filed_ = 0;
};

inline std::string described(const std::vector<RoomModel::Decided>& decided) {
    std::ostringstream out;
    for (const RoomModel::Decided& each : decided)
        out << each;
    return out.str();
}

} // namespace stint::limits::test::model
