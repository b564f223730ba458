#include "runtime/upgrade/held_slots.hpp"

#include "runtime/saved_rows.hpp"

#include <algorithm>
#include <cstdint>

namespace stint::runtime {
namespace {

// The slots are held already, whatever the limit's number is now.
constexpr std::uint64_t any_number = 1'000'000'000;

} // namespace

HeldSlots::HeldSlots(const limits::Registry& registry) {
    for (limits::LimitPtr& limit : registry.alive()) {
        std::string identity = key_of(limit->identity());
        limits_.emplace(std::move(identity), std::move(limit));
    }
}

void HeldSlots::take(const std::vector<HeldSlot>& slots, const Now& now) {
    for (const HeldSlot& each : slots) {
        const auto known = limits_.find(each.limit);
        if (known == limits_.end())
            continue;
        Cap& cap = held_[{each.limit, each.key}];
        cap.limit = known->second;
        for (std::uint64_t i = 0; i < each.slots; ++i) {
            const limits::Charge slot{
                .limit = cap.limit.get(), .key = each.key, .quota = any_number};
            limits::Decision decision = limits::admit({&slot, 1}, now);
            if (!decision.allowed()) // no memory
                break;
            cap.permits.push_back(std::move(decision.permit));
            ++size_;
        }
    }
}

limits::LimitPtr HeldSlots::limit(const std::string& identity) const {
    const auto known = limits_.find(identity);
    return known != limits_.end() ? known->second : nullptr;
}

void HeldSlots::give_back(const GivenBack& given, const Now& now) {
    if (const auto cap = held_.find({given.limit, given.key}); cap != held_.end()) {
        auto& permits = cap->second.permits;
        const std::size_t freed = std::min<std::uint64_t>(given.cost, permits.size());
        size_ -= freed;
        permits.resize(permits.size() - freed);
        return;
    }
    if (const auto known = limits_.find(given.limit); known != limits_.end())
        limits::Permit::give_back_foreign(
            *known->second, given.key, given.receipt, given.cost, now.steady);
}

} // namespace stint::runtime
