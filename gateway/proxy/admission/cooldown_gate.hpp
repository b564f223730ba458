// Asks an upstream's cool-down (the pause that the upstream requested by 429 or 503) whether a
// request may be sent.
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

// One for each request. Has no effect on a request without a cool-down.
class CooldownGate {
  public:
    explicit CooldownGate(Request& request) noexcept : request_{request} {}
    CooldownGate(const CooldownGate&) = delete;
    CooldownGate& operator=(const CooldownGate&) = delete;

    // Asks for permission right before the request is sent: a pause may have begun during a wait.
    // sent_before: an earlier attempt was sent; the request is then refused rather than queued.
    // Returns forward, reply, or wait_cooldown: the request is queued, and has to give back its
    // permit.
    [[nodiscard]] Next ask(SteadyTime now, bool sent_before);
    // Asks for permission, and queues the request if it may not be sent yet. Returns the same as
    // ask().
    [[nodiscard]] Next enqueue(SteadyTime now);
    // Asks for permission to send a retry, without waiting. Returns nothing if the retry may not be
    // sent now, and an empty pass if the request has no cool-down.
    [[nodiscard]] std::optional<limits::Cooldown::Pass> ask_again(SteadyTime now);
    // Replaces the current permission by that of ask_again().
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

    // Notes the pause that the upstream's response asks for (429 or 503) and the quota in its
    // rate-limit fields. at: the time of the response's arrival.
    void heed(const ResponseHead& head, SteadyTime at);
    // Gives the permission back to the cool-down.
    void release() noexcept { pass_ = {}; }

  private:
    Request& request_;
    limits::Cooldown::Pass pass_;
    std::unique_ptr<CooldownWait> wait_; // null unless the request has had to wait
};

} // namespace stint::proxy
