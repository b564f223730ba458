#include "proxy/admission/cooldown_gate.hpp"

#include "http/retry_after.hpp"
#include "http/upstream_rate_limit.hpp"
#include "net/clock.hpp"

namespace stint::proxy {

Next CooldownGate::ask(SteadyTime now, bool sent_before) {
    const limits::CooldownPtr& cooldown = request_.admission().cooldown();
    if (!cooldown) [[likely]]
        return Next::forward;
    if (request_.admission().reply().is_pause())
        return Next::reply;
    if (pass_ && pass_.still_good())
        return Next::forward;
    pass_ = {};
    const limits::CooldownRules& rules = request_.route().cooldown.rules;
    limits::Cooldown::Entry entry = limits::Cooldown::enter(cooldown, now, rules);
    if (entry.pass) {
        pass_ = std::move(entry.pass);
        return Next::forward;
    }
    // A request that was sent once is not refunded, and does not wait for another attempt.
    if (!rules.waits || sent_before)
        return request_.take(request_.admission().refuse_paused(entry.refused));
    return enqueue(now);
}

Next CooldownGate::enqueue(SteadyTime now) {
    const limits::CooldownPtr& cooldown = request_.admission().cooldown();
    if (!wait_)
        wait_ = std::make_unique<CooldownWait>(
            cooldown, request_.context().executor, request_.stream().connection().waits);
    limits::Cooldown::Attempt attempt = wait_->ask(now, request_.route().cooldown.rules);
    if (attempt.refused)
        return request_.take(request_.admission().refuse_paused(*attempt.refused));
    pass_ = std::move(attempt.pass);
    return pass_ ? Next::forward : Next::wait_cooldown;
}

std::optional<limits::Cooldown::Pass> CooldownGate::ask_again(SteadyTime now) {
    const limits::CooldownPtr& cooldown = request_.admission().cooldown();
    if (!cooldown)
        return limits::Cooldown::Pass{};
    limits::Cooldown::Pass pass =
        limits::Cooldown::enter(cooldown, now, request_.route().cooldown.rules).pass;
    if (!pass)
        return std::nullopt;
    return pass;
}

net::Task<Next> CooldownGate::wait() {
    request_.stream().watch();
    Next next = Next::wait_cooldown;
    while (next == Next::wait_cooldown) {
        co_await wait_->until_called();
        request_.stream().poll_peer_close();
        next = request_.is_aborted() ? Next::reply : enqueue(net::read_steady_clock());
    }
    co_return next;
}

void CooldownGate::heed(const ResponseHead& head, SteadyTime at) {
    if (!pass_)
        return;
    const WallTime wall = request_.record().wall_at(at);
    std::optional<limits::Cooldown::Pass::Asked> asked;
    if (head.status == 429 || head.status == 503)
        asked = {head.status, http::parse_retry_after(head.fields, wall)};
    pass_.answered(asked, at, request_.route().cooldown.rules);
    if (!pass_.is_counted())
        return;
    std::optional<limits::LearnedPace::Told> told;
    if (const auto quota = http::parse_upstream_rate_limit(head.fields, wall))
        told = {quota->remaining, quota->reset};
    pass_.adapt(told, at);
}

} // namespace stint::proxy
