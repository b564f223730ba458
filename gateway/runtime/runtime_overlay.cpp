#include "runtime/runtime_overlay.hpp"

namespace stint::runtime {

std::vector<std::string>
RuntimeOverlay::forget_overrides(const std::vector<std::string>& ended_limits) {
    std::vector<std::string> notes;
    for (const std::string& name : ended_limits) {
        const std::vector<LiveOverride> former = overrides_.of(name);
        for (const LiveOverride& each : former)
            (void)overrides_.erase(name, each.pattern);
        if (!former.empty())
            notes.push_back(
                "limit " + name + ": its overrides that were set at run time have ended");
    }
    return notes;
}

void RuntimeOverlay::drain(
    const std::string& upstream, const upstream::EndpointStatePtr& endpoint, const Now& now) {
    std::erase_if(drained_, [](const auto& each) { return each.second.state.expired(); });
    const bool already = endpoint->drained();
    endpoint->drain();
    Drained& entry = drained_[{upstream, endpoint->text()}];
    if (!already || entry.state.lock() != endpoint)
        entry = {endpoint, now.wall};
}

void RuntimeOverlay::enable(
    const std::string& upstream, const upstream::EndpointStatePtr& endpoint, const Now& now) {
    endpoint->enable(now.steady);
    drained_.erase({upstream, endpoint->text()});
}

std::vector<DrainedEndpoint> RuntimeOverlay::drained() const {
    std::vector<DrainedEndpoint> drained;
    for (const auto& [place, entry] : drained_)
        if (!entry.state.expired())
            drained.push_back({place.first, place.second, entry.since});
    return drained;
}

void RuntimeOverlay::note_ended(EndedLease lease) {
    if (ended_leases_.size() >= most_ended_leases)
        ended_leases_.pop_front();
    ended_leases_.push_back(std::move(lease));
}

} // namespace stint::runtime
