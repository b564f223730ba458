// One request's wait for a scope that its upstream has paused.
#pragma once

#include "base/time.hpp"
#include "limits/cooldown/cooldown.hpp"
#include "net/alarm.hpp"
#include "net/types.hpp"

#include <memory>
#include <utility>

namespace stint::proxy {

// Owned by the exchange, on its worker's thread; call() comes from any thread.
class CooldownWait final : public limits::CooldownWaiter {
  public:
    CooldownWait(limits::CooldownPtr scope, const net::Executor& executor)
        : scope_{std::move(scope)}, alarm_{std::make_shared<net::Alarm>(executor)} {}
    ~CooldownWait() { scope_->leave(*this); }

    // Asks to be sent; see Cooldown::attempt. A request that is queued then sleeps and asks again.
    [[nodiscard]] limits::Cooldown::Attempt
    ask(SteadyTime now, const limits::CooldownRules& rules) {
        auto attempt = limits::Cooldown::attempt(scope_, *this, now, rules);
        again_ = attempt.again;
        return attempt;
    }
    [[nodiscard]] net::Task<> sleep() { return alarm_->sleep_until(again_); }

    // Leaves the queue at once; a sleep ends with a later turn of the event loop.
    void give_up() noexcept {
        scope_->leave(*this);
        alarm_->ring();
    }

  private:
    void call() noexcept override { alarm_->ring(); }

    const limits::CooldownPtr scope_;
    const std::shared_ptr<net::Alarm> alarm_;
    SteadyTime again_{};
};

} // namespace stint::proxy
