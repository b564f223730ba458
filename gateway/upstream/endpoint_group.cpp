#include "upstream/endpoint_group.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::upstream {

EndpointStatePtr EndpointGroup::endpoint(const std::string& text) {
    const std::lock_guard lock{mutex_};
    return known_.obtain(text, [&] { return std::make_shared<EndpointState>(text); });
}

// Counts and ejects under the lock: otherwise two workers could each eject the last endpoint that
// may_eject() allows.
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
    return known_.obtain(upstream, [] { return std::make_shared<EndpointGroup>(); });
}

} // namespace stint::upstream
