#include "stores/shared_pauses.hpp"

#include "limits/cooldown/cooldown.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::stores {
namespace {

using namespace std::chrono_literals;

// A known pause counts as longer only if it ends later by this: messages take time.
constexpr Duration least_news = 100ms;
// A full table is searched for pauses that are over, at most so often.
constexpr Duration between_sweeps = 1s;

} // namespace

void SharedPauses::join(
    const Hash128& name, const std::shared_ptr<limits::Cooldown>& cooldown, SteadyTime now) {
    limits::SharedPause under_way;
    {
        const std::lock_guard lock{mutex_};
        if (joined_.size() >= sweep_joined_at_) {
            std::erase_if(joined_, [](const auto& each) { return each.second.expired(); });
            sweep_joined_at_ = 2 * joined_.size() + 64;
        }
        joined_[name] = cooldown;
        if (const auto found = pauses_.find(name); found != pauses_.end())
            under_way = found->second.pause;
    }
    cooldown->learn(under_way, now);
}

SharedPauses::Known* SharedPauses::known(const Hash128& name, SteadyTime now) {
    if (const auto found = pauses_.find(name); found != pauses_.end())
        return &found->second;
    if (pauses_.size() >= most && now >= sweep_at_) {
        sweep_at_ = now + between_sweeps;
        std::erase_if(pauses_, [&](const auto& each) { return each.second.pause.end <= now; });
    }
    return pauses_.size() < most ? &pauses_[name] : nullptr;
}

bool SharedPauses::tell(
    const Hash128& name, const limits::SharedPause& pause, SteadyTime now) noexcept try {
    const std::lock_guard lock{mutex_};
    Known* const is = known(name, now);
    if (is == nullptr)
        unshared_.fetch_add(1, std::memory_order_relaxed);
    if (is == nullptr || pause.end <= std::max(is->pause.end, now))
        return false;
    *is = {pause, false};
    return !std::exchange(has_untold_, true);
} catch (const std::bad_alloc&) { // this gateway pauses alone
    unshared_.fetch_add(1, std::memory_order_relaxed);
    return false;
}

std::vector<PauseTold> SharedPauses::take_untold(std::size_t count, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    std::vector<PauseTold> untold;
    if (!has_untold_)
        return untold;
    untold.reserve(std::min(count, pauses_.size()));
    std::erase_if(pauses_, [&](const auto& each) { return each.second.pause.end <= now; });
    has_untold_ = false;
    for (auto& [name, is] : pauses_) {
        if (is.told)
            continue;
        has_untold_ = untold.size() >= count;
        if (has_untold_)
            break;
        untold.push_back({name, is.pause.end - now, is.pause.status});
        is.told = true;
    }
    return untold;
}

void SharedPauses::put_back(std::span<const PauseTold> untold) noexcept {
    const std::lock_guard lock{mutex_};
    for (const PauseTold& each : untold)
        if (const auto found = pauses_.find(each.name); found != pauses_.end()) {
            found->second.told = false;
            has_untold_ = true;
        }
}

void SharedPauses::tell_again() noexcept {
    const std::lock_guard lock{mutex_};
    for (auto& [name, is] : pauses_)
        is.told = false;
    has_untold_ = !pauses_.empty();
}

std::size_t SharedPauses::learn(std::span<const PauseTold> told, SteadyTime now) {
    std::vector<std::pair<std::shared_ptr<limits::Cooldown>, limits::SharedPause>> paused;
    std::size_t news = 0;
    {
        const std::lock_guard lock{mutex_};
        for (const PauseTold& each : told) {
            const limits::SharedPause pause{each.status, now + each.left};
            Known* const is = known(each.name, now);
            const bool goes_on = is != nullptr && is->pause.end > now;
            if (is == nullptr || pause.end <= (goes_on ? is->pause.end + least_news : now))
                continue;
            *is = {pause, true};
            ++news;
            if (const auto joined = joined_.find(each.name); joined != joined_.end())
                if (auto cooldown = joined->second.lock())
                    paused.emplace_back(std::move(cooldown), pause);
        }
    }
    for (const auto& [cooldown, pause] : paused)
        cooldown->learn(pause, now);
    return news;
}

std::size_t SharedPauses::under_way(SteadyTime now) const {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(std::ranges::count_if(
        pauses_, [&](const auto& each) { return each.second.pause.end > now; }));
}

} // namespace stint::stores
