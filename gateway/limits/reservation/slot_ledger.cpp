#include "limits/reservation/slot_ledger.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace stint::limits {

SteadyTime SlotLedger::next_at(
    SteadyTime earliest, std::uint64_t cost, std::uint64_t quota, Duration per) const noexcept {
    if (!any_given_)
        return earliest;
    const auto parts = static_cast<std::int64_t>(quota);
    const Duration share{((per + grace).count() - 1) / parts + 1};
    // The last slot was given under a quota that may have been larger.
    const auto shares = static_cast<std::int64_t>(std::min(last_.cost, quota) + cost - 1);
    return std::max(earliest, last_.at + shares * share);
}

bool SlotLedger::give(std::uint64_t number, const Slot& slot) noexcept {
    Slots::iterator added;
    try {
        added = slots_.emplace_hint(slots_.end(), number, slot);
    } catch (const std::bad_alloc&) {
        return false;
    }
    try {
        add_to_client(number, slot);
    } catch (const std::bad_alloc&) {
        slots_.erase(added);
        return false;
    }
    if (counted_ == slots_.end())
        counted_ = added; // it is the last, and not counted yet
    last_ = slot;
    any_given_ = true;
    return true;
}

void SlotLedger::add_to_client(std::uint64_t number, const Slot& slot) {
    const auto [client, fresh] = clients_.try_emplace(slot.client);
    try {
        client->second.numbers.insert(client->second.numbers.end(), number);
    } catch (const std::bad_alloc&) {
        if (fresh)
            clients_.erase(client);
        throw;
    }
    client->second.cost += slot.cost;
}

std::uint64_t SlotLedger::claimable_by(Hash128 client, SteadyTime now) const noexcept {
    const auto of = clients_.find(client);
    if (of == clients_.end())
        return 0;
    // Numbers are in order of time, and slots that are over have been forgotten.
    const std::uint64_t first = *of->second.numbers.begin();
    return slots_.at(first).claimable(now) ? first : 0;
}

std::uint64_t SlotLedger::cost_of(Hash128 client) const noexcept {
    const auto of = clients_.find(client);
    return of != clients_.end() ? of->second.cost : 0;
}

void SlotLedger::take(std::uint64_t number) noexcept {
    erase(slots_.find(number));
}

std::size_t SlotLedger::forget(SteadyTime now) noexcept {
    std::size_t forgotten = 0;
    for (; !slots_.empty() && slots_.begin()->second.over(now); ++forgotten)
        erase(slots_.begin());
    return forgotten;
}

std::uint64_t SlotLedger::held_before(SteadyTime end) noexcept {
    for (; counted_ != slots_.end() && counted_->second.at < end; ++counted_)
        held_ += counted_->second.cost;
    while (counted_ != slots_.begin() && std::prev(counted_)->second.at >= end)
        held_ -= (--counted_)->second.cost;
    return held_;
}

void SlotLedger::erase(Slots::iterator slot) noexcept {
    const auto& [number, gone] = *slot;
    const auto client = clients_.find(gone.client);
    client->second.numbers.erase(number);
    client->second.cost -= gone.cost;
    if (client->second.numbers.empty())
        clients_.erase(client);
    if (slot == counted_)
        ++counted_;
    else if (is_counted(slot))
        held_ -= gone.cost;
    slots_.erase(slot);
}

} // namespace stint::limits
