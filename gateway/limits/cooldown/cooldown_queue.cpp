// The queue before a closed scope.
#include "limits/cooldown/cooldown.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

// The longest sleep of a waiter: the thread that calls it may have had no memory to wake it.
constexpr Duration longest_sleep = 1s;

} // namespace

// Decides for a request outside the queue. A scope that is open and has no pace lets every request
// pass: its waiters have been called then, and are overtaken by no more than a moment.
std::optional<Cooldown::Refused>
Cooldown::closed_to_new(SteadyTime now, const CooldownRules& rules) {
    auto refused = closed(now, rules);
    const bool open = phase_ == Phase::open && !(rules.learn && pace_.known());
    if (!refused && !open && !line_.empty())
        refused = Refused{
            phase_ == Phase::open ? too_many_requests : status_, shortest_wait,
            phase_ == Phase::open};
    if (refused && !rules.waits) // else attempt() decides on refusals
        ++refused_;
    return refused;
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
    const auto closed = self.closed(now, rules);
    if (first && !closed) {
        self.take_out(waiter);
        return {self.grant(cooldown, now, rules), {}, {}};
    }
    if (!waiter.deadline_)
        waiter.deadline_ = now + rules.max_wait;
    const Refused why = closed.value_or(
        Refused{self.status_ == 0 ? too_many_requests : self.status_, shortest_wait});
    // A probe's duration is unknown; any other reason is known to last at least so long.
    const bool known = closed && self.phase_ != Phase::probing;
    const bool too_late = now >= *waiter.deadline_ || (known && now + why.wait > *waiter.deadline_);
    if (too_late || (!stands && self.line_.size() >= rules.max_waiting)) {
        self.take_out(waiter);
        ++self.refused_;
        return {{}, why, {}};
    }
    if (!stands)
        self.line_.push_back(waiter);
    return {{}, {}, std::min(self.ask_again_at(why, first, now), *waiter.deadline_)};
}

// Only the first waiter has to look at the clock; it is called when a probe has been answered.
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
