#include "limits/queue/fair_queue.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace stint::limits {

FairQueue::~FairQueue() {
    assert(empty());
}

FairQueue::CostRange
FairQueue::push(Item& item, Hash128 flow_key, std::uint64_t cost, std::uint64_t arrival) {
    assert(!item.queued() && cost > 0);
    auto [entry, is_new] = flows_.try_emplace(flow_key);
    if (is_new) {
        try {
            entry->second = std::make_unique<Flow>();
        } catch (...) {
            flows_.erase(entry);
            throw;
        }
        entry->second->key = flow_key;
    }
    Flow& flow = *entry->second;
    if (is_new)
        turns_.push_back(flow);
    else
        by_weight_.erase(by_weight_.iterator_to(flow));
    item.flow_ = &flow;
    item.cost_ = cost;
    item.arrival_ = arrival;
    auto before = flow.items.end();
    while (before != flow.items.begin() && std::prev(before)->arrival_ > arrival)
        --before;
    flow.items.insert(before, item);
    flow.cost += cost;
    by_weight_.insert(flow);
    const CostRange former = costs_;
    costs_ = size_ == 0 ? CostRange{cost, cost}
                        : CostRange{std::max(costs_.highest, cost), std::min(costs_.lowest, cost)};
    ++size_;
    cost_ += cost;
    return former;
}

void FairQueue::erase(Item& item) noexcept {
    Flow& flow = *item.flow_;
    by_weight_.erase(by_weight_.iterator_to(flow));
    flow.items.erase(flow.items.iterator_to(item));
    item.flow_ = nullptr;
    flow.cost -= item.cost_;
    cost_ -= item.cost_;
    --size_;
    if (!flow.items.empty()) {
        by_weight_.insert(flow);
        return;
    }
    turns_.erase(turns_.iterator_to(flow));
    flows_.erase(Hash128{flow.key});
}

FairQueue::Item& FairQueue::front() noexcept {
    for (;;) {
        Flow& flow = turns_.front();
        if (!flow.in_turn) {
            flow.in_turn = true;
            flow.deficit += costs_.highest;
        }
        if (flow.deficit >= flow.items.front().cost_)
            return flow.items.front();
        end_turn(flow);
    }
}

// Only the first flow can be in its turn. If its remaining deficit is too small for its item, the
// turn ends and the next flow's item is next. In a new turn the deficit suffices, because a turn
// adds the highest cost.
const FairQueue::Item& FairQueue::next() const noexcept {
    const Flow& first = turns_.front();
    const bool ends = first.in_turn && first.deficit < first.items.front().cost_;
    return ends && turns_.size() > 1 ? std::next(turns_.begin())->items.front()
                                     : first.items.front();
}

void FairQueue::pop_front() noexcept {
    Item& item = front();
    Flow& flow = *item.flow_;
    const bool last_of_flow = &item == &flow.items.back();
    flow.deficit -= item.cost_;
    erase(item);
    if (!last_of_flow && flow.deficit < flow.items.front().cost_)
        end_turn(flow);
}

void FairQueue::end_turn(Flow& flow) noexcept {
    flow.in_turn = false;
    turns_.splice(turns_.end(), turns_, turns_.iterator_to(flow));
}

FairQueue::Item& FairQueue::last() noexcept {
    return by_weight_.rbegin()->items.back();
}

FairQueue::Standing
FairQueue::standing(Hash128 flow_key, std::uint64_t more, std::uint64_t arrival) const noexcept {
    const auto known = flows_.find(flow_key);
    const Flow* const own = known == flows_.end() ? nullptr : known->second.get();
    std::uint64_t others = 0;
    for (auto each = by_weight_.rbegin(); each != by_weight_.rend(); ++each)
        if (&*each != own) {
            others = each->cost;
            break;
        }
    const std::uint64_t weight = more + (own != nullptr ? own->cost : 0);
    if (weight < others)
        return Standing::lighter;
    const bool equal_costs = empty() || (costs_.lowest == costs_.highest && more == costs_.highest);
    const bool behind_own = own == nullptr || own->items.back().arrival_ < arrival;
    const bool behind_others = weight > others || own == nullptr;
    return equal_costs && behind_own && behind_others ? Standing::last : Standing::not_lighter;
}

void FairQueue::begin_walk() {
    walk_.clear();
    walk_.reserve(flows_.size());
    for (Flow& flow : turns_) {
        flow.cursor = flow.items.begin();
        flow.credit = flow.deficit + (flow.in_turn ? 0 : costs_.highest);
        walk_.push_back(&flow);
    }
}

} // namespace stint::limits
