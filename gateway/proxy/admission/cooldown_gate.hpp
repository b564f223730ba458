// A request's permission to be sent, where its upstream may ask for pauses.
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"
#include "limits/cooldown/cooldown.hpp"
#include "proxy/admission/cooldown_wait.hpp"
#include "proxy/request.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace stint::proxy {

// One for each request; without an effect where no cool-down applies.
class CooldownGate {
  public:
    explicit CooldownGate(Request& request) noexcept : request_{request} {}
    CooldownGate(const CooldownGate&) = delete;
    CooldownGate& operator=(const CooldownGate&) = delete;

    // Asks for permission right before the request is sent: a pause may have begun during a wait.
    // sent_before: the upstream has had it once, so that it does not wait for another time.
    // Returns forward, wait_cooldown (queued now; it has to give back what it was granted), or
    // reply.
    [[nodiscard]] Next ask(SteadyTime now, bool sent_before);
    // Asks for permission and queues the request if it is not time yet. Returns as ask().
    [[nodiscard]] Next enqueue(SteadyTime now);
    // Asks for another permission, for a retry of a request that was sent, without waiting for it.
    // Nothing: there is none.
    [[nodiscard]] std::optional<limits::Cooldown::Pass> ask_again(SteadyTime now);
    // Takes that permission over.
    void adopt(limits::Cooldown::Pass pass) noexcept {
        if (pass)
            pass_ = std::move(pass);
    }
    // True unless a pause has begun since the permission was given.
    [[nodiscard]] bool is_open() const noexcept { return !pass_ || pass_.still_good(); }

    // Waits for the pause to end, and watches the client meanwhile. Always ends: with permission,
    // with a refusal, or when the request is aborted. Returns forward or reply.
    [[nodiscard]] net::Task<Next> wait();
    // Ends the wait soon.
    void cancel() noexcept {
        if (wait_)
            wait_->give_up();
    }

    // Notes what the upstream's response, which has come at `at`, asks for.
    void heed(const ResponseHead& head, SteadyTime at);
    // Gives the permission back.
    void release() noexcept { pass_ = {}; }

  private:
    Request& request_;
    limits::Cooldown::Pass pass_;
    std::unique_ptr<CooldownWait> wait_; // once it has had to wait
};

} // namespace stint::proxy
