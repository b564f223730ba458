// One line of waiters once more, naively: flows in the order of their turns, everything worked out
// anew each time. Who goes and who is refused must be what this says.
#pragma once

#include "fixture.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace stint::limits::test {

class NaiveLine {
  public:
    struct One {
        int name;
        SteadyTime deadline;
        friend bool operator==(const One&, const One&) = default;
    };

    // What can be admitted until an instant is `quota` at opens_at and every `per` after it; `per`
    // of zero: nobody knows (a cap).
    NaiveLine(Duration per, std::uint64_t quota, std::uint64_t max_waiting)
        : per_{per}, quota_{quota}, max_waiting_{max_waiting} {}

    SteadyTime opens_at = SteadyTime::max();
    Duration wait{}; // as told by the last refusal

    // Returns whom that costs the place.
    std::vector<One> join(One one, int flow, const Now& now) {
        auto own = std::ranges::find(turns_, flow, &Flow::first);
        if (own == turns_.end())
            own = turns_.insert(turns_.end(), {flow, {}});
        own->second.push_back(one);
        std::vector<One> refused;
        if (size() > max_waiting_) {
            const Flow* const other = heaviest_other(flow);
            const bool others_fault = other != nullptr && own->second.size() < other->second.size();
            refused.push_back(others_fault ? other->second.back() : one);
            erase(refused.back().name);
            if (!others_fault)
                return refused;
        }
        if (per_ > Duration::zero())
            refuse_pushed(one, now, refused);
        return refused;
    }

    void erase(int name) {
        for (Flow& flow : turns_)
            std::erase_if(flow.second, [&](const One& each) { return each.name == name; });
        std::erase_if(turns_, [](const Flow& flow) { return flow.second.empty(); });
    }

    // The next to go, who goes.
    One pop() {
        Flow flow = turns_.front();
        turns_.erase(turns_.begin());
        const One first = flow.second.front();
        flow.second.pop_front();
        if (!flow.second.empty())
            turns_.push_back(flow);
        return first;
    }

    std::vector<One> expire(const Now& now) {
        std::vector<One> late;
        for (const One& one : in_order())
            if (one.deadline <= now.steady)
                late.push_back(one);
        for (const One& one : late)
            erase(one.name);
        return late;
    }

    [[nodiscard]] Duration wait_behind_all(const Now& now) const {
        if (per_ == Duration::zero())
            return wait * static_cast<std::int64_t>(size() + 1);
        return opening_of(size(), now) - now.steady;
    }

    [[nodiscard]] std::size_t size() const { return in_order().size(); }
    [[nodiscard]] std::vector<One> in_order() const {
        NaiveLine copy = *this;
        std::vector<One> order;
        while (!copy.turns_.empty())
            order.push_back(copy.pop());
        return order;
    }

  private:
    using Flow = std::pair<int, std::deque<One>>;

    // Of several the one with the youngest; names rise with the time of arrival.
    [[nodiscard]] const Flow* heaviest_other(int than) const {
        const Flow* found = nullptr;
        const auto rank = [](const Flow& flow) {
            return std::pair{flow.second.size(), flow.second.back().name};
        };
        for (const Flow& flow : turns_)
            if (flow.first != than && (found == nullptr || rank(*found) < rank(flow)))
                found = &flow;
        return found;
    }

    [[nodiscard]] SteadyTime opening_of(std::size_t position, const Now& now) const {
        return std::max(opens_at, now.steady) + per_ * static_cast<std::int64_t>(position / quota_);
    }

    void refuse_pushed(const One& newcomer, const Now& now, std::vector<One>& refused) {
        const std::vector<One> order = in_order();
        std::size_t position = 0;
        bool passed = false;
        for (const One& one : order) {
            passed = passed || one == newcomer;
            if (passed && opening_of(position, now) > one.deadline) {
                erase(one.name);
                refused.push_back(one);
                if (one == newcomer)
                    return;
            } else {
                ++position;
            }
        }
    }

    Duration per_;
    std::uint64_t quota_;
    std::uint64_t max_waiting_;
    std::vector<Flow> turns_;
};

} // namespace stint::limits::test
