#include "runtime/runtime_overlay.hpp"

#include <utility>

namespace stint::runtime {

std::string note_of_ended_changes(const std::string& limit) {
    return "limit " + limit + ": the changes that were made at run time have ended";
}

std::vector<std::string> RuntimeOverlay::forget_limits(const std::vector<std::string>& ended) {
    std::vector<std::string> notes;
    for (const std::string& name : ended)
        if (limits_.forget(name))
            notes.push_back(note_of_ended_changes(name));
    return notes;
}

void RuntimeOverlay::drain(
    const std::string& upstream,
    const upstream::EndpointStatePtr& endpoint,
    const Now& now,
    Attribution by) {
    std::erase_if(drained_, [](const auto& each) { return each.second.state.expired(); });
    const bool already = endpoint->drained();
    endpoint->drain();
    Drained& entry = drained_[{upstream, endpoint->text()}];
    if (!already || entry.state.lock() != endpoint)
        entry = {endpoint, now.wall, std::move(by)};
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
            drained.push_back({place.first, place.second, entry.since, entry.by});
    return drained;
}

} // namespace stint::runtime
