// What the strict algorithms promise, whatever was given back: in no span more than their rule
// says.
#pragma once

#include "reference_counters.hpp"

#include <vector>

namespace stint::limits::test {

// One counter of a limit whose numbers never change.
class SpanBounds {
  public:
    SpanBounds(const LimitIdentity& limit, std::uint64_t quota, std::uint64_t burst)
        : algorithm_{limit.algorithm}, per_{limit.per.count()}, quota_{quota}, burst_{burst} {}

    void charge(model::Id id, std::uint64_t cost, const Now& now) {
        if (limits_spans())
            events_.push_back({model::ns(now), id, cost});
    }
    void give_back(model::Id id, std::uint64_t cost) {
        for (Event& event : events_)
            event.cost -= event.id == id ? cost : 0;
    }

    // Looks at what has come since the last time, and some of what came before.
    [[nodiscard]] bool kept() {
        for (std::size_t from = 0; from < events_.size(); ++from)
            if (!kept_from(from))
                return false;
        if (events_.size() > 100)
            events_.erase(events_.begin(), events_.end() - 50);
        return true;
    }

  private:
    struct Event {
        std::int64_t at;
        model::Id id;
        std::uint64_t cost;
    };

    [[nodiscard]] bool limits_spans() const {
        return algorithm_ == Algorithm::sliding_window || algorithm_ == Algorithm::token_bucket;
    }
    [[nodiscard]] bool kept_from(std::size_t from) const {
        model::Int sum = 0;
        for (std::size_t to = from; to < events_.size(); ++to) {
            sum += events_[to].cost;
            const model::Int span = events_[to].at - events_[from].at;
            if (algorithm_ == Algorithm::sliding_window
                    ? span < per_ && sum > quota_
                    : sum * per_ > model::Int{burst_} * per_ + span * quota_)
                return false;
        }
        return true;
    }

    Algorithm algorithm_;
    std::int64_t per_;
    std::uint64_t quota_;
    std::uint64_t burst_; // of a token bucket
    std::vector<Event> events_;
};

} // namespace stint::limits::test
