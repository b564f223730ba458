#include "permits/reported_cooldowns.hpp"

#include <algorithm>

namespace stint::permits {

Duration
ReportedCooldowns::begin(const CounterId& counter, int status, Duration length, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    if (paused_.size() >= most)
        std::erase_if(paused_, [&](const auto& each) { return each.second.end <= now; });
    if (paused_.size() >= most && !paused_.contains(counter))
        return {};
    Until& until = paused_[counter];
    const SteadyTime end = now + std::clamp<Duration>(length, Duration::zero(), longest);
    if (end > until.end)
        until = {status, end};
    any_.store(true, std::memory_order_relaxed);
    return until.end - now;
}

std::optional<ReportedCooldowns::Pause>
ReportedCooldowns::look(const CounterId& counter, SteadyTime now) const {
    if (!any_.load(std::memory_order_relaxed)) [[likely]]
        return std::nullopt;
    const std::lock_guard lock{mutex_};
    const auto found = paused_.find(counter);
    if (found == paused_.end() || found->second.end <= now)
        return std::nullopt;
    return Pause{found->second.status, found->second.end - now};
}

std::map<ReportedCooldowns::CounterId, ReportedCooldowns::Until> ReportedCooldowns::all() const {
    const std::lock_guard lock{mutex_};
    return paused_;
}

} // namespace stint::permits
