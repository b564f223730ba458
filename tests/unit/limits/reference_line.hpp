// One line of waiters once more, naively: flows in the order of their turns, everything worked out
// anew each time.
#pragma once

#include "reference_counters.hpp"

#include <algorithm>
#include <vector>

namespace stint::limits::test::model {

struct Place {
    int name;
    int flow;
    int arrival;
    std::uint64_t cost;
    SteadyTime deadline;
    int joined = 0;
};

class LineModel {
  public:
    SteadyTime opens_at = SteadyTime::max();
    // What the room has filed it under: by `due`, then by `filed`.
    SteadyTime due{};
    std::uint64_t filed = 0;

    [[nodiscard]] bool empty() const { return flows_.empty(); }
    [[nodiscard]] std::size_t size() const { return in_order().size(); }

    // As many go as the limit lets through at once, and again after its length. When a cap lets a
    // request through is not known.
    void set_numbers(const LimitIdentity& limit, const Ask& of) {
        const bool at_once = !of.pace && limit.algorithm != Algorithm::token_bucket;
        cap_ = limit.algorithm == Algorithm::concurrency;
        each_ = at_once ? of.quota : 1;
        every_ = std::max(at_once ? limit.per : limit.per / signed_of(of.quota), Duration{1});
    }
    // As the counter has just told this waiter, the first in line.
    void opens_after(std::int64_t wait, int name, std::uint64_t cost, const Now& now) {
        opens_for_ = cost;
        wait_ = std::max(Duration{wait}, Duration{1});
        opens_at = cap_ ? SteadyTime::max() : now.steady + wait_;
        told_ = name;
    }
    void open() {
        opens_at = SteadyTime::min();
        opens_for_ = 1;
    }
    // How long ago it opened; at most until it would have opened again, and of a key then nothing.
    [[nodiscard]] std::int64_t late(bool keyed, const Now& now) const {
        if (opens_at == SteadyTime::min() || opens_at > now.steady)
            return 0;
        const Duration since = now.steady - opens_at;
        return since < every_ ? ns(since) : keyed ? 0 : ns(every_);
    }
    // What one waiter was told does not hold for another.
    void look_who_is_first() {
        if (!empty() && in_order().front().name != told_)
            open();
    }

    // Returns the waiters that lose their place by that.
    std::vector<Place> join(Place place, std::uint64_t max_waiting, const Now& now) {
        quantum_ = empty() ? place.cost : std::max(quantum_, place.cost);
        place.joined = ++joined_;
        insert(place);
        std::vector<Place> refused;
        const LineModel with_all = *this;
        if (size() > max_waiting) {
            const Flow* const other = heaviest_but(place.flow);
            const bool others_fault = other != nullptr && weight(place.flow) < other->weight() &&
                                      place.deadline > now.steady;
            refused.push_back(others_fault ? other->places.back() : place);
            erase(refused.back().name);
            if (!others_fault)
                return refused;
        }
        refuse_late(place, now, refused);
        if (std::ranges::find(refused, place.name, &Place::name) == refused.end())
            return refused;
        *this = with_all; // it has no place: no waiter has to go for it
        erase(place.name);
        return {place};
    }
    void erase(int name) {
        for (Flow& flow : flows_)
            std::erase_if(flow.places, [&](const Place& each) { return each.name == name; });
        std::erase_if(flows_, [](const Flow& flow) { return flow.places.empty(); });
    }
    // Up to the first in line: the waiter that is first then may go.
    std::vector<Place> expire(const Now& now) {
        std::vector<Place> late = in_order();
        const int first = empty() ? 0 : late.front().name;
        std::erase_if(late, [&](const Place& each) { return each.deadline > now.steady; });
        std::ranges::sort(late, {}, [](const Place& each) {
            return std::pair{each.deadline, each.joined};
        });
        const auto last = std::ranges::find(late, first, &Place::name);
        if (last != late.end())
            late.erase(last + 1, late.end());
        for (const Place& each : late)
            erase(each.name);
        return late;
    }

    // The waiter that goes next. A flow's turn lets out as much as the dearest waiter so far costs.
    Place front() {
        for (;; end_turn()) {
            Flow& flow = flows_.front();
            if (!flow.in_turn)
                flow.deficit += quantum_;
            flow.in_turn = true;
            if (flow.deficit >= flow.places.front().cost)
                return flow.places.front();
        }
    }
    Place pop() {
        const Place first = front();
        Flow& flow = flows_.front();
        flow.deficit -= first.cost;
        flow.places.erase(flow.places.begin());
        if (flow.places.empty())
            flows_.erase(flows_.begin());
        else if (flow.deficit < flow.places.front().cost)
            end_turn();
        return first;
    }
    [[nodiscard]] std::vector<Place> in_order() const {
        LineModel copy = *this;
        std::vector<Place> order;
        while (!copy.empty())
            order.push_back(copy.pop());
        return order;
    }

    [[nodiscard]] std::int64_t wait_behind_all(std::uint64_t cost, const Now& now) const {
        std::uint64_t units = cost;
        for (const Place& each : in_order())
            units += each.cost;
        return cap_ ? ns(wait_) * signed_of(units) : ns(opening_of(units, now) - now.steady);
    }
    [[nodiscard]] SteadyTime earliest() const {
        SteadyTime earliest = opens_at;
        for (const Place& each : in_order())
            earliest = std::min(earliest, each.deadline);
        return earliest;
    }

  private:
    struct Flow {
        int key;
        std::vector<Place> places; // by their arrival
        std::uint64_t deficit = 0;
        bool in_turn = false;

        [[nodiscard]] std::uint64_t weight() const {
            std::uint64_t sum = 0;
            for (const Place& each : places)
                sum += each.cost;
            return sum;
        }
    };

    void insert(const Place& place) {
        auto own = std::ranges::find(flows_, place.flow, &Flow::key);
        if (own == flows_.end())
            own = flows_.insert(flows_.end(), {place.flow, {}});
        own->places.push_back(place);
        std::ranges::sort(own->places, {}, &Place::arrival);
    }
    void end_turn() {
        flows_.front().in_turn = false;
        std::ranges::rotate(flows_, flows_.begin() + 1);
    }
    [[nodiscard]] std::uint64_t weight(int flow) const {
        return std::ranges::find(flows_, flow, &Flow::key)->weight();
    }
    // Of several the one with the youngest.
    [[nodiscard]] const Flow* heaviest_but(int key) const {
        const Flow* found = nullptr;
        const auto rank = [](const Flow& flow) {
            return std::pair{flow.weight(), flow.places.back().arrival};
        };
        for (const Flow& flow : flows_)
            if (flow.key != key && (found == nullptr || rank(*found) < rank(flow)))
                found = &flow;
        return found;
    }

    // When the last of so many units goes.
    [[nodiscard]] SteadyTime opening_of(std::uint64_t units, const Now& now) const {
        const std::uint64_t at_first = each_ == 1 ? opens_for_ : each_;
        const std::uint64_t later = units > at_first ? units - at_first : 0;
        return std::max(opens_at, now.steady) + every_ * signed_of((later + each_ - 1) / each_);
    }
    // The newcomer, if its turn comes too late; else the waiters behind it whose turn now does.
    void refuse_late(const Place& newcomer, const Now& now, std::vector<Place>& refused) {
        std::uint64_t units = 0;
        bool passed = false;
        for (const Place& each : in_order()) {
            passed = passed || each.name == newcomer.name;
            units += each.cost;
            const bool itself = each.name == newcomer.name;
            if (passed && !itself && newcomer.deadline <= now.steady)
                return; // it cannot wait
            if (cap_ || !passed || opening_of(units, now) <= each.deadline)
                continue;
            units -= each.cost;
            erase(each.name);
            refused.push_back(each);
            if (each.name == newcomer.name)
                return;
        }
    }

    bool cap_ = false;
    std::uint64_t each_ = 1;
    Duration every_{1};
    Duration wait_{}; // as told by the last refusal
    std::uint64_t quantum_ = 1;
    int joined_ = 0;
    std::uint64_t opens_for_ = 1; // what that waiter costs
    int told_ = 0;                // the waiter that was told when it opens
    std::vector<Flow> flows_;     // in the order of their turns
};

} // namespace stint::limits::test::model
