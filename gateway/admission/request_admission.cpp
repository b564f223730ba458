#include "admission/request_admission.hpp"

#include "admission/find_route.hpp"
#include "http/media_type.hpp"

#include <string>
#include <utility>

namespace stint::admission {

using observe::Outcome;

Next RequestAdmission::decide(
    const RequestHead& head, routing::KeyFacts& facts, std::uint64_t arrived, const Now& now) {
    decided_ = now;
    has_host_ = !head.authority.empty();
    shows_permit_ = head.ids.contains(FieldId::x_stint_permit) && env_.prepaid != nullptr;
    Next next = Next::reply;
    if (select_route(head, facts) && body_fits(head, arrived) && may_go_on(head, facts) &&
        (route_->fence == nullptr || check_fence(facts))) [[likely]]
        next = route_->cooldown.set ? check_cooldown(facts) : Next::forward;
    if (next == Next::forward) [[likely]]
        next = admit(facts);
    if (next != Next::forward && next != Next::respond) // the head may be gone after a wait
        reply_.use(http::preferred_media_type(head.fields));
    return next;
}

bool RequestAdmission::select_route(const RequestHead& head, routing::KeyFacts& facts) {
    const routing::Snapshot& snapshot = env_.snapshot;
    const auto found = find_route(snapshot, head, env_.scratch.host, env_.scratch.path);
    if (!found) {
        ending_.connection = true;
        return fail(found.error().status, found.error().detail, Outcome::rejected);
    }
    if (asks_forward_proxy(snapshot, head, found->host)) [[unlikely]]
        return fail(no_forward_proxy.status, no_forward_proxy.detail, Outcome::rejected);
    if (found->match.route != nullptr) [[likely]] {
        route_ = found->match.route;
        sends_normal_path_ = found->forward_path;
        facts.host = found->host;
        facts.path = found->path;
        facts.route = route_->name;
        // To forward it as an ordinary request would not do: a 200 would tell the client that it
        // has its WebSocket.
        return !head.extended_connect || routing::takes_websockets(*route_) ||
               fail(501, "the route lets no WebSockets through", Outcome::rejected);
    }
    if (!found->match.path_matched)
        return fail(404, "no route takes this host and path", Outcome::no_route);
    reply_.refuse_method(snapshot.routes.allowed_methods(found->host, found->path));
    end(405, Outcome::rejected);
    return false;
}

void RequestAdmission::complete(const RequestHead& head, routing::KeyFacts& facts) const {
    const auto found = find_route(env_.snapshot, head, env_.scratch.host, env_.scratch.path);
    facts.host = found->host;
    facts.path = found->path;
    facts.route = route_->name;
}

// Refuses with 413 a request whose body is longer than max_body, before any charge. The connection
// then ends, because the rest of the body is not read.
bool RequestAdmission::body_fits(const RequestHead& head, std::uint64_t arrived) {
    const bool fits = head.framing.length <= route_->max_body && arrived <= route_->max_body;
    if (fits || !features_.has(Feature::max_body)) [[likely]]
        return true;
    ending_.connection = true;
    return fail(413, body_too_long, Outcome::rejected);
}

// Decides whether Max-Forwards lets OPTIONS and TRACE go on (RFC 9110 section 7.6.2). If not,
// OPTIONS is answered with the methods that the path serves. TRACE is answered with 501: its
// regular answer would show the client fields that other proxies have added.
bool RequestAdmission::may_go_on(const RequestHead& head, const routing::KeyFacts& facts) {
    if (head.max_forwards != 0U || !features_.has(Feature::max_forwards)) [[likely]]
        return true;
    if (head.method != "OPTIONS")
        return fail(
            501, "Max-Forwards ends this TRACE here, and Stint answers none itself",
            Outcome::rejected);
    reply_.answer_options(env_.snapshot.routes.allowed_methods(facts.host, facts.path));
    end(200, Outcome::rejected);
    return false;
}

// Reads the request's fencing token. Refuses the request (412) and returns false if the token is
// missing or stale. Such a request need not wait or be charged first: fencing numbers only rise, so
// a stale token never becomes valid again.
bool RequestAdmission::check_fence(const routing::KeyFacts& facts) {
    if (!features_.has(Feature::require_fence))
        return true;
    fence_ = routing::ShownFence{facts.method, facts.fields};
    return fence_holds();
}

bool RequestAdmission::fence_holds() {
    if (route_->fence == nullptr) [[likely]]
        return true;
    const auto fault = fence_.against(*route_->fence);
    if (fault == routing::ShownFence::Fault::none) [[likely]]
        return true;
    env_.callbacks.fence_rejected(*route_);
    reply_.reject_fencing_token(*route_->fence, fault);
    end(412, Outcome::refused);
    return false;
}

// Finds the cool-down that the request belongs to. If it is closed (it pauses requests), refuses
// the request, or returns Next::wait_cooldown. Does not enter the cool-down yet: a limit may still
// refuse or queue the request.
Next RequestAdmission::check_cooldown(const routing::KeyFacts& facts) {
    if (!features_.has(Feature::cooldown))
        return Next::forward;
    const routing::RouteCooldown& of = route_->cooldown;
    std::string_view text = of.by_host ? facts.host : std::string_view{of.otherwise};
    Hash128 scope{};
    if (of.key.empty()) {
        scope = facts.hasher(text);
    } else {
        const routing::Key key = of.key.evaluate(facts, env_.scratch.key);
        text = key.text;
        scope = key.hash;
    }
    if (env_.preview != nullptr)
        return preview_cooldown(scope, text);
    cooldown_ = of.set->of(scope, text, decided_.steady);
    if (!of.rules.waits || !features_.has(Feature::cooldown_wait))
        return is_closed() ? Next::reply : Next::forward;
    return cooldown_->look(decided_.steady, of.rules) ? Next::wait_cooldown : Next::forward;
}

// Refuses the request and returns true if its cool-down is closed and the request must not wait for
// it. Returns false in any other case.
bool RequestAdmission::is_closed() {
    if (!cooldown_ || (route_->cooldown.rules.waits && features_.has(Feature::cooldown_wait)))
        return false; // a request that may wait is checked again right before it is sent
    limits::CooldownRules rules = route_->cooldown.rules;
    rules.waits = false;
    const auto closed = cooldown_->look(decided_.steady, rules);
    if (closed)
        refuse_paused(*closed);
    return closed.has_value();
}

Next RequestAdmission::preview_cooldown(Hash128 scope, std::string_view text) {
    limits::CooldownSet& set = *route_->cooldown.set;
    // Others may have paused what no request of this gateway has made known.
    const limits::CooldownPtr known =
        set.is_shared() ? set.of(scope, text, decided_.steady) : set.find(scope);
    if (known == nullptr)
        return Next::forward;
    env_.preview->elsewhere = known->state(decided_.steady).elsewhere;
    const auto outlook = known->outlook(decided_.steady, route_->cooldown.rules);
    if (outlook.refused)
        return refuse_paused(*outlook.refused);
    env_.preview->wait = outlook.wait.value_or(Duration::zero());
    return outlook.wait ? Next::wait_cooldown : Next::forward;
}

Next RequestAdmission::refuse_paused(const limits::Cooldown::Refused& refused) {
    reply_.pause(
        {.upstream = (*env_.snapshot.upstreams)[route_->upstream].name,
         .status = refused.status,
         .retry_after = refused.wait,
         .paced = refused.paced});
    return end(refused.status, Outcome::cooling_down);
}

Duration RequestAdmission::resume(const Now& now) noexcept {
    return now.steady - std::exchange(decided_, now).steady;
}

void RequestAdmission::undo(const Now& now) noexcept {
    for (std::size_t i = 0; i < limits::max_charges; ++i)
        permit_.refund(i, now);
    permit_ = {};
    shares_.reset();
    prepaid_.take_back();
    settlement_.forget();
    headers_.clear();
}

Next RequestAdmission::end(int status, Outcome outcome) noexcept {
    ending_.status = status;
    ending_.outcome = outcome;
    return Next::reply;
}

bool RequestAdmission::fail(int status, std::string_view detail, Outcome outcome) {
    reply_.explain(std::string{detail});
    end(status, outcome);
    return false;
}

} // namespace stint::admission
