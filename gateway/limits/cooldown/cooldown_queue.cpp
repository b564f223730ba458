// The queue of requests that wait for a closed scope of a cool-down.
#include "limits/cooldown/cooldown.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

// The longest sleep of a waiter: a wakeup may be lost for want of memory.
constexpr Duration longest_sleep = 1s;

} // namespace

std::optional<Cooldown::Refused>
Cooldown::closed_to_new(SteadyTime now, const CooldownRules& rules) {
    end_ramp(now, rules);
    const auto refused = refusal_of_new(now, rules);
    if (refused && !rules.waits) // otherwise attempt() counts the refusal
        ++refused_;
    return refused;
}

// Returns the refusal of a request that is not in the queue; nothing if it may be sent. An open
// scope without a learned pace lets every request pass, even if waiters are still in the queue:
// these have been called and go within a moment.
std::optional<Cooldown::Refused>
Cooldown::refusal_of_new(SteadyTime now, const CooldownRules& rules) const noexcept {
    const auto refused = closed(now, rules);
    const bool open = phase_at(now, rules.ramp) == Phase::open;
    const bool free = open && !(rules.learn && pace_.known());
    if (refused || free || line_.empty())
        return refused;
    return Refused{open ? too_many_requests : status_, shortest_wait, open};
}

Cooldown::Outlook Cooldown::outlook(SteadyTime now, const CooldownRules& rules) const {
    const std::lock_guard lock{mutex_};
    const auto refused = refusal_of_new(now, rules);
    if (!refused || !rules.waits)
        return {refused, {}};
    const auto obstacle = obstacle_to(line_.empty(), now, rules);
    if (!obstacle)
        return {};
    if (!may_stand(false, true, *obstacle, now + rules.max_wait, now, rules))
        return {obstacle->why, {}};
    return {{}, wait_behind_all(obstacle->why, now, rules)};
}

Cooldown::Attempt Cooldown::attempt(
    const CooldownPtr& cooldown,
    CooldownWaiter& waiter,
    SteadyTime now,
    const CooldownRules& rules) {
    Cooldown& self = *cooldown;
    const std::lock_guard lock{self.mutex_};
    const bool stands = waiter.is_linked();
    const bool first = self.line_.empty() || (stands && &self.line_.front() == &waiter);
    self.end_ramp(now, rules);
    const auto obstacle = self.obstacle_to(first, now, rules);
    if (!obstacle) {
        self.take_out(waiter);
        return {self.grant(cooldown, now, rules), {}, {}};
    }
    if (!waiter.deadline_)
        waiter.deadline_ = now + rules.max_wait;
    if (!self.may_stand(stands, waiter.may_wait, *obstacle, *waiter.deadline_, now, rules)) {
        self.take_out(waiter);
        ++self.refused_;
        return {{}, obstacle->why, {}};
    }
    if (!stands)
        self.line_.push_back(waiter);
    return {{}, {}, std::min(self.ask_again_at(obstacle->why, first, now), *waiter.deadline_)};
}

// Returns why a waiter cannot be sent now; nothing if the scope is open and the waiter is first.
// The wait is not known during a probe, nor for a waiter that is not first.
std::optional<Cooldown::Obstacle>
Cooldown::obstacle_to(bool first, SteadyTime now, const CooldownRules& rules) const noexcept {
    if (const auto closed = this->closed(now, rules))
        return Obstacle{*closed, phase_ != Phase::probing};
    if (first)
        return std::nullopt;
    return Obstacle{Refused{status_ == 0 ? too_many_requests : status_, shortest_wait}};
}

// True if a waiter may stay in the queue, or may join it if `stands` is false. may_wait: as
// CooldownWaiter's.
bool Cooldown::may_stand(
    bool stands,
    bool may_wait,
    const Obstacle& obstacle,
    SteadyTime deadline,
    SteadyTime now,
    const CooldownRules& rules) const noexcept {
    const bool too_late = now >= deadline || (obstacle.known && now + obstacle.why.wait > deadline);
    return !too_late && (stands || (may_wait && line_.size() < rules.max_waiting));
}

// Estimates the wait of a request behind all present waiters. The first waiter goes when its
// obstacle is over, after a pause as the probe. The others follow at even intervals; once the ramp
// is over, all the rest go at once.
Duration Cooldown::wait_behind_all(
    const Refused& first, SteadyTime now, const CooldownRules& rules) const noexcept {
    const Phase phase = phase_at(now, rules.ramp);
    auto behind = static_cast<Duration::rep>(line_.size());
    Duration wait = first.wait;
    if (phase == Phase::paused && behind > 0) {
        wait += while_probing;
        --behind;
    }
    Duration gap = pace_.interval(now);
    Duration left = rules.max_wait; // time until all the rest go at once
    if (phase == Phase::ramping) {
        gap = SendRate::interval(rate_at(now));
        left = ramp_from_ + rules.ramp - now - wait;
    } else if (phase != Phase::open) {
        gap = SendRate::interval(rate_after(Duration::zero()));
        left = rules.ramp;
    }
    left = std::max(std::min(left, rules.max_wait - wait), Duration::zero());
    if (behind == 0 || gap <= left / behind)
        left = gap * behind;
    return std::min(wait + left, rules.max_wait);
}

// Returns when a queued waiter is to call attempt() again: the first waiter at the end of its wait,
// but no later than after `longest_sleep`. All others, and the first during a probe, rely on
// CooldownWaiter::call(): after `longest_sleep`.
SteadyTime Cooldown::ask_again_at(const Refused& why, bool first, SteadyTime now) const {
    const SteadyTime latest = now + longest_sleep;
    if (!first || (phase_ == Phase::probing && !why.paced))
        return latest;
    return std::min(now + why.wait, latest);
}

void Cooldown::leave(CooldownWaiter& waiter) noexcept {
    const std::lock_guard lock{mutex_};
    take_out(waiter);
}

void Cooldown::take_out(CooldownWaiter& waiter) noexcept {
    if (!waiter.is_linked())
        return;
    const bool first = &line_.front() == &waiter;
    line_.erase(line_.iterator_to(waiter));
    if (first)
        call_first();
}

void Cooldown::call_first() noexcept {
    if (!line_.empty())
        line_.front().call();
}

void Cooldown::call_all() noexcept {
    for (CooldownWaiter& each : line_)
        each.call();
}

} // namespace stint::limits
