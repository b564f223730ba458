// Pauses that upstreams ask for.
#include "http/retry_after.hpp"
#include "http/upstream_rate_limit.hpp"
#include "net/clock.hpp"
#include "proxy/exchange.hpp"

#include <memory>
#include <utility>

namespace stint::proxy {

// Checks again right before a send: during a wait, a pause may have begun or a lock been given out.
bool Exchange::may_send(SteadyTime now) {
    if (!is_open(now))
        return false;
    if (admission_.fence_holds()) [[likely]]
        return true;
    next_ = next_of(admission::Next::reply);
    return false;
}

// True if the cooldown lets the request go. Once a pause has begun, no further request is sent.
bool Exchange::is_open(SteadyTime now) {
    const limits::CooldownPtr& cooldown = admission_.cooldown();
    if (!cooldown) [[likely]]
        return true;
    if (admission_.reply().is_pause())
        return false;
    if (pass_ && pass_.still_good())
        return true;
    pass_ = {};
    limits::Cooldown::Entry entry = limits::Cooldown::enter(cooldown, now, route().cooldown.rules);
    if (entry.pass) {
        pass_ = std::move(entry.pass);
        return true;
    }
    // A request that the upstream has had once is not refunded, and does not wait to be sent again.
    if (!route().cooldown.rules.waits || sent_ != SteadyTime{}) {
        next_of(admission_.refuse_paused(entry.refused));
        return false;
    }
    const Next next = enqueue_for_cooldown(now);
    if (next == Next::forward)
        return true;
    next_ = next;
    give_back_admission({now, wall_at(now)});
    return false;
}

// Asks the cooldown for permission to send, and queues the request if it is not time yet.
Exchange::Next Exchange::enqueue_for_cooldown(SteadyTime now) {
    if (!cooldown_wait_)
        cooldown_wait_ = std::make_unique<CooldownWait>(admission_.cooldown(), context_.executor);
    limits::Cooldown::Attempt attempt = cooldown_wait_->ask(now, route().cooldown.rules);
    if (attempt.refused)
        return next_of(admission_.refuse_paused(*attempt.refused));
    pass_ = std::move(attempt.pass);
    return pass_ ? Next::forward : Next::wait_cooldown;
}

// Refunds all: a request that waits for a pause holds no charge and no slot, and asks its limits
// anew.
void Exchange::give_back_admission(const Now& now) {
    admission_.undo(now);
    lease_ = {};
    disarm();
    leave_endpoint();
    if (!body_pump_.begun) // else it holds what was read of the body beyond the head's block
        pending_request_.clear();
    answer_ = Answer::incomplete;
    attempts_.renewed = attempts_.failed_over =
        false; // pooled connections may have died in the meantime
    attempts_.made = 1;
}

// Waits for the pause to end. Watches the client meanwhile, but does not read its body. Always
// ends: with permission to send, with a refusal, or when the exchange is aborted.
net::Task<Exchange::Next> Exchange::wait_out_pause() {
    stream_.watch();
    Next next = Next::wait_cooldown;
    while (next == Next::wait_cooldown) {
        co_await cooldown_wait_->sleep();
        stream_.poll_peer_close();
        next = abort_reason_ == AbortReason::no ? enqueue_for_cooldown(net::read_steady_clock())
                                                : Next::reply;
    }
    note_wait();
    co_return next == Next::forward ? admit_after_pause() : next;
}

// Admits the request once more. Its route is known.
Exchange::Next Exchange::admit_after_pause() {
    const RequestHead& head = stream_.head();
    routing::KeyFacts facts = facts_of(head);
    admission_.complete(head, facts);
    const Next next = next_of(admission_.admit(facts));
    if (next == Next::forward)
        write_request_head(head);
    return next;
}

void Exchange::heed_answer(const ResponseHead& head) {
    std::optional<limits::Cooldown::Pass::Asked> asked;
    if (head.status == 429 || head.status == 503)
        asked = {head.status, http::parse_retry_after(head.fields, wall_at(answered_))};
    pass_.answered(asked, answered_, route().cooldown.rules);
    if (!pass_.is_counted())
        return;
    std::optional<limits::LearnedPace::Told> told;
    if (const auto quota = http::parse_upstream_rate_limit(head.fields, wall_at(answered_)))
        told = {quota->remaining, quota->reset};
    pass_.adapt(told, answered_);
}

} // namespace stint::proxy
