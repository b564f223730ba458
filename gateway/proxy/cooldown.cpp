// Pauses that upstreams ask for.
#include "http/retry_after.hpp"
#include "http/told_quota.hpp"
#include "net/clock.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {

// Whether the scope is open now. Nothing is entered yet: a limit may still refuse, or make wait.
bool Exchange::look_at_cooldown(const routing::KeyFacts& facts) {
    const routing::RouteCooldown& cooldown = route_->cooldown;
    if (cooldown.key.empty()) {
        const std::string_view of =
            cooldown.by_host ? facts.host : std::string_view{cooldown.otherwise};
        cooldown_ = cooldown.set->of(context_.shared.hasher(of), of, begun_.steady);
    } else {
        const routing::Key key = cooldown.key.evaluate(facts, context_.key_scratch);
        cooldown_ = cooldown.set->of(key.hash, key.text, begun_.steady);
    }
    const auto closed = cooldown_->look(begun_.steady, cooldown.rules);
    if (closed)
        refuse_paused(*closed);
    return !closed;
}

// Right before a send: from the moment that a pause begins nothing goes that has not gone.
bool Exchange::may_send(SteadyTime now) {
    if (!cooldown_) [[likely]]
        return true;
    if (paused_.retry_after > Duration::zero())
        return false;
    if (pass_ && pass_.still_good())
        return true;
    pass_ = {};
    limits::Cooldown::Entry entry = limits::Cooldown::enter(cooldown_, now, route_->cooldown.rules);
    if (!entry.pass) {
        refuse_paused(entry.refused);
        return false;
    }
    pass_ = std::move(entry.pass);
    return true;
}

void Exchange::refuse_paused(const limits::Cooldown::Refused& refused) {
    paused_.upstream = snapshot().upstreams[route_->upstream].name;
    paused_.status = refused.status;
    paused_.retry_after = refused.wait;
    paused_.paced = refused.paced;
    fail(refused.status, {}, observe::Outcome::cooling_down);
}

void Exchange::heed_answer(const ResponseHead& head) {
    std::optional<limits::Cooldown::Pass::Asked> asked;
    if (head.status == 429 || head.status == 503)
        asked = {head.status, http::parse_retry_after(head.fields, wall_at(answered_))};
    pass_.answered(asked, answered_, route_->cooldown.rules);
    if (!pass_.is_counted())
        return;
    std::optional<limits::LearnedPace::Told> told;
    if (const auto quota = http::read_told_quota(head.fields, wall_at(answered_)))
        told = {quota->remaining, quota->reset};
    pass_.learn(told, answered_);
}

} // namespace stint::proxy
