#include "runtime/limit_changes.hpp"

#include "base/ip_address.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace stint::runtime {
namespace {

using Kind = LimitChange::Kind;

void apply_numbers(const limits::Numbers& numbers, config::Limit& limit) {
    limit.quota = numbers.quota;
    if (numbers.burst > 0)
        limit.burst = numbers.burst;
}

// Adds the operators' overrides to a limit. They replace configured ones with the same key, and
// come before the others, because the first of equally long patterns that match a key applies.
// overrides: ordered by key.
void add_overrides(std::vector<config::Override> overrides, config::Limit& limit) {
    const std::size_t changed = overrides.size();
    for (const config::Override& each : limit.overrides)
        if (!std::ranges::binary_search(
                std::span{overrides}.first(changed), each.key, {}, &config::Override::key))
            overrides.push_back(each);
    limit.overrides = std::move(overrides);
}

} // namespace

std::string_view subject_of(LimitChange::Kind kind) noexcept {
    switch (kind) {
    case Kind::numbers:
        return "an override";
    case Kind::block_key:
    case Kind::block_client:
        return "a block";
    case Kind::enforce:
        return "a switch of enforce";
    }
    return {};
}

bool LimitChanges::put(LimitChange change) {
    auto known = all_.find(change.target);
    if (known == all_.end() && all_.size() >= most)
        return false;
    ByEnd made; // all memory is allocated before anything is changed
    if (change.expires)
        made.insert(&change);
    ByEnd::node_type end = made.empty() ? ByEnd::node_type{} : made.extract(made.begin());
    if (known == all_.end())
        known = all_.try_emplace(change.target).first;
    else
        ends_.erase(&known->second);
    known->second = std::move(change);
    if (!end.empty()) {
        end.value() = &known->second;
        ends_.insert(std::move(end));
    }
    return true;
}

LimitChanges::ByTarget::const_iterator
LimitChanges::remove(ByTarget::const_iterator change) noexcept {
    ends_.erase(&change->second);
    return all_.erase(change);
}

bool LimitChanges::erase(const LimitChange::Target& target) {
    const auto found = all_.find(target);
    if (found == all_.end())
        return false;
    remove(found);
    return true;
}

bool LimitChanges::forget(const std::string& limit) {
    auto next = first_of(limit);
    const bool any = concern(limit);
    while (next != all_.end() && next->first.limit == limit)
        next = remove(next);
    return any;
}

std::vector<LimitChange::Target> LimitChanges::ended_by(SteadyTime now) const {
    std::vector<LimitChange::Target> ended;
    for (const LimitChange* each : ends_) {
        if (*each->expires > now)
            break;
        ended.push_back(each->target);
    }
    return ended;
}

std::optional<SteadyTime> LimitChanges::next_end() const noexcept {
    return ends_.empty() ? std::nullopt : (*ends_.begin())->expires;
}

const LimitChange* LimitChanges::find(const LimitChange::Target& target) const {
    const auto found = all_.find(target);
    return found == all_.end() ? nullptr : &found->second;
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
