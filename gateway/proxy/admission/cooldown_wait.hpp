// One request's wait until the cool-down of its scope (host, route or key) lets it be sent.
#pragma once

#include "base/time.hpp"
#include "limits/cooldown/cooldown.hpp"
#include "net/types.hpp"
#include "net/wait.hpp"
#include "server/wait_slots.hpp"

#include <utility>

namespace stint::proxy {

// Owned by the exchange, on its worker's thread; call() comes from any thread.
class CooldownWait final : public limits::CooldownWaiter {
  public:
    // slots: those of the request's connection; may be null.
    CooldownWait(limits::CooldownPtr scope, const net::Executor& executor, server::WaitSlots* slots)
        : scope_{std::move(scope)}, wait_{executor}, slot_{slots} {}
    ~CooldownWait() { scope_->leave(*this); }

    // Asks for permission to send, see Cooldown::attempt(). A call that queues the request is
    // followed by until_called() and another ask().
    [[nodiscard]] limits::Cooldown::Attempt
    ask(SteadyTime now, const limits::CooldownRules& rules) {
        may_wait = slot_.take();
        auto attempt = limits::Cooldown::attempt(scope_, *this, now, rules);
        again_ = attempt.again;
        if (attempt.pass || attempt.refused)
            slot_.free();
        return attempt;
    }
    [[nodiscard]] net::Task<net::Wait::End> until_called() { return wait_.until(again_); }

    // Leaves the queue and frees the slot at once; the wait ends with a later turn of the event
    // loop.
    void give_up() noexcept {
        scope_->leave(*this);
        slot_.free();
        wait_.wake();
    }

  private:
    void call() noexcept override { wait_.wake(); }

    const limits::CooldownPtr scope_;
    net::Wait wait_;
    server::WaitSlot slot_;
    SteadyTime again_{};
};

} // namespace stint::proxy
