#include "runtime/live_overrides.hpp"

#include <algorithm>

namespace stint::runtime {

bool LiveOverrides::put(const std::string& limit, LiveOverride override) {
    const std::pair place{limit, override.pattern};
    if (all_.size() >= most && !all_.contains(place))
        return false;
    all_.insert_or_assign(place, std::move(override));
    return true;
}

bool LiveOverrides::erase(const std::string& limit, std::string_view pattern) {
    return all_.erase({limit, std::string{pattern}}) > 0;
}

bool LiveOverrides::expire(SteadyTime now) {
    return std::erase_if(all_, [&](const auto& each) {
               return each.second.expires && *each.second.expires <= now;
           }) > 0;
}

std::optional<SteadyTime> LiveOverrides::next_end() const noexcept {
    std::optional<SteadyTime> first;
    for (const auto& [place, each] : all_)
        if (each.expires && (!first || *each.expires < *first))
            first = each.expires;
    return first;
}

std::vector<LiveOverride> LiveOverrides::of(const std::string& limit) const {
    std::vector<LiveOverride> found;
    for (auto next = all_.lower_bound({limit, {}});
         next != all_.end() && next->first.first == limit; ++next)
        found.push_back(next->second);
    return found;
}

} // namespace stint::runtime
