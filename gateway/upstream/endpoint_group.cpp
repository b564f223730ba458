#include "upstream/endpoint_group.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::upstream {

EndpointStatePtr EndpointGroup::endpoint(const std::string& text) {
    const std::lock_guard lock{mutex_};
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<EndpointState>& known = known_[text];
    if (EndpointStatePtr alive = known.lock())
        return alive;
    EndpointStatePtr fresh = std::make_shared<EndpointState>(text);
    known = fresh;
    return fresh;
}

// Holds the lock, so that two workers cannot each eject the last endpoint that may go.
bool EndpointGroup::eject(
    EndpointState& failing,
    std::span<const EndpointStatePtr> all,
    const routing::EjectionRules& rules,
    SteadyTime now) {
    const std::lock_guard lock{mutex_};
    const auto is_out = [&](const EndpointStatePtr& each) {
        return each.get() != &failing && !each->up(now);
    };
    const auto out = static_cast<std::size_t>(std::ranges::count_if(all, is_out));
    if (failing.ejected_until() > now || !may_eject(all.size(), out))
        return false;
    failing.eject(next_ejection(failing.last_ejection(), rules, now));
    return true;
}

EndpointGroupPtr EndpointRegistry::group(const std::string& upstream) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<EndpointGroup>& known = known_[upstream];
    if (EndpointGroupPtr alive = known.lock())
        return alive;
    EndpointGroupPtr fresh = std::make_shared<EndpointGroup>();
    known = fresh;
    return fresh;
}

} // namespace stint::upstream
