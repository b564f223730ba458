#include "runtime/limit_changes.hpp"

#include "base/ip_address.hpp"

#include <algorithm>
#include <utility>

namespace stint::runtime {
namespace {

using Kind = LimitChange::Kind;

void apply_numbers(const limits::Numbers& numbers, config::Limit& limit) {
    limit.quota = numbers.quota;
    if (numbers.burst > 0)
        limit.burst = numbers.burst;
}

// Puts the overrides before the configured ones: the first of equally long patterns that match
// applies.
void add_overrides(std::vector<config::Override> overrides, config::Limit& limit) {
    for (const config::Override& each : limit.overrides)
        if (std::ranges::find(overrides, each.key, &config::Override::key) == overrides.end())
            overrides.push_back(each);
    limit.overrides = std::move(overrides);
}

} // namespace

bool LimitChanges::put(LimitChange change) {
    if (all_.size() >= most && !all_.contains(change.target))
        return false;
    LimitChange::Target target = change.target;
    all_.insert_or_assign(std::move(target), std::move(change));
    return true;
}

bool LimitChanges::erase(const LimitChange::Target& target) {
    return all_.erase(target) > 0;
}

bool LimitChanges::forget(const std::string& limit) {
    auto next = first_of(limit);
    const bool any = concern(limit);
    while (next != all_.end() && next->first.limit == limit)
        next = all_.erase(next);
    return any;
}

std::vector<LimitChange> LimitChanges::expire(SteadyTime now) {
    std::vector<LimitChange> ended;
    std::erase_if(all_, [&](auto& each) {
        if (!each.second.expires || *each.second.expires > now)
            return false;
        ended.push_back(std::move(each.second));
        return true;
    });
    return ended;
}

std::optional<SteadyTime> LimitChanges::next_end() const noexcept {
    std::optional<SteadyTime> first;
    for (const auto& [target, each] : all_)
        if (each.expires && (!first || *each.expires < *first))
            first = each.expires;
    return first;
}

bool LimitChanges::concern(const std::string& limit) const {
    const auto first = first_of(limit);
    return first != all_.end() && first->first.limit == limit;
}

LimitChanges::ByTarget::const_iterator LimitChanges::first_of(const std::string& limit) const {
    return all_.lower_bound({limit, Kind::numbers, {}});
}

std::vector<LimitChange> LimitChanges::of(const std::string& limit, Kind kind) const {
    std::vector<LimitChange> found;
    for (auto next = first_of(limit); next != all_.end() && next->first.limit == limit; ++next)
        if (next->first.kind == kind)
            found.push_back(next->second);
    return found;
}

config::Limit LimitChanges::applied_to(config::Limit limit) const {
    std::vector<config::Override> overrides;
    for (auto next = first_of(limit.name); next != all_.end() && next->first.limit == limit.name;
         ++next) {
        const auto& [target, change] = *next;
        switch (target.kind) {
        case Kind::numbers:
            if (target.key.empty())
                apply_numbers(change.numbers, limit);
            else
                overrides.push_back({target.key, change.numbers.quota, change.numbers.burst});
            break;
        case Kind::block_key:
            limit.deny.keys.push_back(target.key);
            break;
        case Kind::block_client:
            if (const auto network = Cidr::parse(target.key))
                limit.deny.networks.push_back(*network);
            break;
        case Kind::enforce:
            limit.enforce = change.enforce;
            break;
        }
    }
    add_overrides(std::move(overrides), limit);
    return limit;
}

} // namespace stint::runtime
