#include "permits/dynamic_limits.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace stint::permits {
namespace {

DynamicLimitPtr make(
    limits::Registry& registry,
    std::string_view name,
    const Brought& numbers,
    std::uint32_t metric) {
    routing::LimitTerms limit;
    limit.key = routing::KeyTemplate{{{routing::KeySource::Kind::permit_key, {}}}};
    limits::LimitSpec spec;
    spec.identity.name = name;
    spec.identity.key = limit.key.text();
    spec.identity.per = numbers.per;
    spec.quota = numbers.requests;
    spec.max_keys = DynamicLimits::keys_each;
    limit.limit = registry.obtain(spec);
    limit.quota = numbers.requests;
    return std::make_shared<const DynamicLimit>(DynamicLimit{
        std::make_shared<const routing::LimitTerms>(std::move(limit)), {.refusal_metric = metric}});
}

Duration window_of(const DynamicLimitPtr& limit) noexcept {
    return limit->terms->limit->identity().per;
}

} // namespace

std::variant<DynamicLimitPtr, DynamicLimits::Failure> DynamicLimits::obtain(
    std::string_view name,
    const std::optional<Brought>& brought,
    std::uint64_t most,
    std::uint32_t metric,
    SteadyTime now) {
    const std::lock_guard lock{mutex_};
    if (const auto found = known_.find(name); found != known_.end()) {
        Known& known = found->second;
        const Brought numbers{known.limit->terms->quota, window_of(known.limit)};
        const bool idle = now - known.used >= 2 * numbers.per;
        if (!brought || *brought == numbers || idle) {
            if (brought && *brought != numbers)
                known.limit = make(registry_, name, *brought, metric);
            known.used = now;
            return known.limit;
        }
        return Failure::different;
    }
    if (!brought || most == 0)
        return Failure::unknown;
    if (known_.size() >= most && !make_room(most, now))
        return Failure::too_many;
    DynamicLimitPtr limit = make(registry_, name, *brought, metric);
    known_.emplace(std::string{name}, Known{limit, now});
    return limit;
}

// Drops all idle limits at once, so that later new limits find room as well. True if there is room.
bool DynamicLimits::make_room(std::uint64_t most, SteadyTime now) {
    std::erase_if(known_, [&](const auto& each) {
        const Known& known = each.second;
        return now - known.used >= 2 * window_of(known.limit);
    });
    return known_.size() < most;
}

std::size_t DynamicLimits::size() const {
    const std::lock_guard lock{mutex_};
    return known_.size();
}

} // namespace stint::permits
