#include "limits/cooldown/learned_pace.hpp"

#include <algorithm>
#include <chrono>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

// Upstreams report resets in whole seconds: a smaller shift means the same window.
constexpr Duration same_window = 1s;
// Retry interval while the scout's answer is awaited.
constexpr Duration while_scouting = 100ms;

} // namespace

Duration LearnedPace::wait(SteadyTime now) const noexcept {
    if (!known_)
        return {};
    if (now >= until_)
        return scouting_ ? while_scouting : Duration{};
    if (left_ == 0)
        return until_ - now;
    return std::max(next_ - now, Duration::zero());
}

bool LearnedPace::sent(SteadyTime now) noexcept {
    ++in_flight_;
    if (!known_)
        return false;
    if (now >= until_) {
        scouting_ = true;
        return true;
    }
    next_ = now + interval(now);
    left_ -= std::min<std::uint64_t>(left_, 1);
    return false;
}

Duration LearnedPace::interval(SteadyTime now) const noexcept {
    const Duration rest = std::max(until_ - now, Duration::zero());
    return Duration{
        rest.count() / static_cast<Duration::rep>(std::clamp<std::uint64_t>(left_, 1, 1ULL << 40))};
}

void LearnedPace::answered(bool scout, const std::optional<Told>& told, SteadyTime now) noexcept {
    lost(scout);
    if (!told) {
        known_ = known_ && !scout;
        return;
    }
    const SteadyTime until = now + told->reset;
    const std::uint64_t left = told->remaining - std::min(told->remaining, in_flight_);
    if (known_ && now < until_ && until < until_ + same_window) {
        left_ = std::min(left_, left);
        return;
    }
    known_ = true;
    until_ = until;
    left_ = left;
    next_ = std::max(next_, now);
}

void LearnedPace::lost(bool scout) noexcept {
    in_flight_ -= std::min<std::uint64_t>(in_flight_, 1);
    scouting_ = scouting_ && !scout;
}

} // namespace stint::limits
