// Fair queueing: the order in which the queued items of several flows are served. Pure: no lock, no
// clock, no limit.
#pragma once

#include "base/hash.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace stint::limits {

// Deficit round robin (Shreedhar and Varghese 1995) over flows; first come, first served within a
// flow. In its turn, a flow passes items up to a total cost, which is the highest cost of any item
// pushed since the queue was empty. With equal costs, that is one item a turn. So a flow with a
// thousand items delays another flow no longer than a flow with two. Only push() and
// for_each_in_order() throw std::bad_alloc, with nothing changed.
class FairQueue {
    struct Flow;

  public:
    // A queued item; owned by the caller of push(), and linked in at most one queue.
    class Item : public boost::intrusive::list_base_hook<> {
      public:
        Item() = default;
        Item(const Item&) = delete;
        Item& operator=(const Item&) = delete;

        [[nodiscard]] bool queued() const noexcept { return flow_ != nullptr; }

      private:
        friend class FairQueue;
        Flow* flow_ = nullptr;
        std::uint64_t cost_ = 1;
        std::uint64_t arrival_ = 0;
    };

    FairQueue() = default;
    FairQueue(const FairQueue&) = delete;
    FairQueue& operator=(const FairQueue&) = delete;
    ~FairQueue(); // requires: empty

    // The range of the costs pushed since the queue was empty.
    struct CostRange {
        std::uint64_t highest = 1;
        std::uint64_t lowest = 1;
    };
    // Adds an item. `arrival` orders the items of a flow: an item from another queue may come later
    // with a lower number, and goes before higher numbers. cost is at least 1. Returns the cost
    // range before the push.
    CostRange push(Item& item, Hash128 flow, std::uint64_t cost, std::uint64_t arrival);
    // Takes an item out. A flow in its turn keeps its remaining deficit for its next item; the turn
    // ends with the flow's last item.
    void erase(Item& item) noexcept;
    // Undoes the push of the item that came last, which returned `before`. Whatever the queue does
    // next, it does as if the item had not been pushed.
    void undo_push(Item& item, const CostRange& before) noexcept {
        erase(item);
        costs_ = before;
    }

    // Returns the next item; its flow's turn begins. Requires: not empty.
    [[nodiscard]] Item& front() noexcept;
    // Returns the item that front() would return, without beginning a turn. Requires: not empty.
    [[nodiscard]] const Item& next() const noexcept;
    // Removes the item that front() returned; its flow pays its cost.
    void pop_front() noexcept;

    // Returns the youngest item of the flow with the highest cost. Requires: not empty.
    [[nodiscard]] Item& last() noexcept;
    // Compares the flow's weight (the sum of its costs), with `more` added, to the heaviest of the
    // other flows. `last`: not lighter, and an item pushed now with this `arrival` would go behind
    // all others. `last` is returned only if all items cost the same: otherwise a heavier flow may
    // finish before a lighter one, as a turn's unused cost is kept for the next.
    enum class Standing : std::uint8_t { lighter, not_lighter, last };
    [[nodiscard]] Standing
    standing(Hash128 flow, std::uint64_t more, std::uint64_t arrival) const noexcept;

    // Calls visit(Item&, cost) for the items in the order in which they would be served if none
    // were added or erased. Stops when visit returns false. visit must not change the queue.
    template <class Visit>
    void for_each_in_order(Visit visit);

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t cost() const noexcept { return cost_; } // sum over all items

  private:
    using Items = boost::intrusive::list<Item, boost::intrusive::constant_time_size<false>>;
    struct Flow : boost::intrusive::list_base_hook<>, boost::intrusive::set_base_hook<> {
        Hash128 key;
        Items items; // never empty
        std::uint64_t cost = 0;
        std::uint64_t deficit = 0; // cost that the flow may still pass in this turn
        bool in_turn = false;
        // Used by for_each_in_order() alone.
        Items::iterator cursor;
        std::uint64_t credit = 0;
    };
    struct ByWeight {
        bool operator()(const Flow& a, const Flow& b) const noexcept {
            return a.cost != b.cost ? a.cost < b.cost
                                    : a.items.back().arrival_ < b.items.back().arrival_;
        }
    };
    struct HashOfHash {
        std::size_t operator()(const Hash128& key) const noexcept {
            return static_cast<std::size_t>(key.low);
        }
    };

    void end_turn(Flow& flow) noexcept;
    void begin_walk();

    std::unordered_map<Hash128, std::unique_ptr<Flow>, HashOfHash> flows_;
    boost::intrusive::list<Flow> turns_; // the flow of the current turn first
    boost::intrusive::multiset<Flow, boost::intrusive::compare<ByWeight>> by_weight_;
    std::vector<Flow*> walk_;
    CostRange costs_; // each turn adds costs_.highest
    std::size_t size_ = 0;
    std::uint64_t cost_ = 0;
};

template <class Visit>
void FairQueue::for_each_in_order(Visit visit) {
    begin_walk();
    while (!walk_.empty()) {
        std::size_t left = 0;
        for (Flow* const flow : walk_) {
            for (; flow->cursor != flow->items.end() && flow->credit >= flow->cursor->cost_;
                 ++flow->cursor) {
                flow->credit -= flow->cursor->cost_;
                if (!visit(*flow->cursor, flow->cursor->cost_))
                    return;
            }
            flow->credit += costs_.highest; // for its next turn
            if (flow->cursor != flow->items.end())
                walk_[left++] = flow;
        }
        walk_.resize(left);
    }
}

} // namespace stint::limits
