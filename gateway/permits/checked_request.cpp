#include "permits/checked_request.hpp"

#include "http/media_type.hpp"
#include "http/permit_text.hpp"
#include "limits/queue/admission_queue.hpp"
#include "net/clock.hpp"
#include "permits/check.hpp"
#include "proxy/admission/key_recorder.hpp"
#include "proxy/admission/limit_steps.hpp"
#include "proxy/admission/queued_request.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace stint::permits {

CheckedRequest::CheckedRequest(proxy::Context& context)
    : context_{context}, config_{context.active}, now_{net::read_clocks()} {}

void CheckedRequest::decide(std::string_view text, const routing::ClientAddress& peer) {
    const auto head = context_.parser.parse_request(
        text, {.max_target = snapshot().max_target, .max_fields = snapshot().max_fields});
    if (!head)
        return fail(head.error().status, head.error().detail);
    name(*head);
    reply_.use(http::preferred_media_type(head->fields));
    const auto found =
        proxy::find_route(snapshot(), *head, context_.host_scratch, context_.path_scratch);
    if (!found)
        return fail(found.error().status, found.error().detail);
    if (!select_route(*found))
        return;
    const routing::ClientAddress client{
        routing::client_behind(peer.address(), head->fields, snapshot().trusted),
        context_.shared.hasher};
    const routing::KeyFacts facts{
        .client = client,
        .hasher = context_.shared.hasher,
        .fields = head->fields,
        .query = head->query,
        .host = found->host,
        .path = found->path,
        .method = head->method,
        .route = route_->name};
    if (is_open(facts))
        admit(facts, head->ids);
}

void CheckedRequest::name(const RequestHead& head) {
    for (const Field& field : head.fields)
        if (field.id == FieldId::x_request_id && request_id_.empty() &&
            http::well_formed_request_id(field.value))
            request_id_ = field.value;
    if (!request_id_.empty())
        return;
    made_id_ = context_.request_ids.make(now_.wall);
    request_id_ = {made_id_.data(), made_id_.size()};
}

bool CheckedRequest::select_route(const proxy::FoundRoute& found) {
    route_ = found.match.route;
    if (route_ != nullptr)
        return true;
    if (!found.match.path_matched) {
        fail(404, "no route takes this host and path");
        return false;
    }
    reply_.refuse_method(snapshot().routes.allowed_methods(found.host, found.path));
    status_ = 405;
    return false;
}

bool CheckedRequest::is_open(const routing::KeyFacts& facts) {
    const routing::RouteCooldown& cooldown = route_->cooldown;
    if (!cooldown.set)
        return true;
    const limits::CooldownPtr scope =
        proxy::cooldown_of(cooldown, facts, context_.key_scratch, now_.steady);
    const auto closed = scope->look(now_.steady, cooldown.rules);
    if (!closed)
        return true;
    reply_.pause(
        {.upstream = snapshot().upstreams[route_->upstream].name,
         .status = closed->status,
         .retry_after = closed->wait,
         .paced = closed->paced});
    status_ = closed->status;
    return false;
}

void CheckedRequest::admit(const routing::KeyFacts& facts, FieldIds ids) {
    if (route_->limits.empty())
        return;
    recent_ = context_.recent.begin(request_id_, now_.wall, route_->metric);
    proxy::KeyRecorder noted{*config_, context_.recent, now_.steady};
    routing::Charges charges = routing::charges_of(*route_, facts, context_.key_scratch, &noted);
    proxy::count_exempt(context_.counters, *route_, charges);
    if (charges.denied_by != nullptr)
        return deny(*charges.denied_by, charges.denial);
    leave_out_unchecked(charges);
    if (ids.contains(FieldId::x_stint_permit) && !charges.charges.empty())
        claim_permit(charges, facts.fields);
    if (!charges.charges.empty()) {
        const limits::Decision decision = admit_now(charges, facts);
        if (!decision.allowed())
            return refuse(charges, decision);
        if ((decision.would_refuse | decision.overflow_began) != 0)
            proxy::note_admission(context_.counters, decision, charges);
    }
    if (prepaid_ && prepaid_.spend())
        ++context_.counters.tickets_used;
}

void CheckedRequest::leave_out_unchecked(routing::Charges& charges) {
    for (std::size_t i = charges.charges.size(); i-- > 0;) {
        if (can_check(*charges.limits[i]))
            continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        not_checked_.push_back(charges.limits[i]->limit->identity().name);
        charges.charges.erase(charges.charges.begin() + at);
        charges.limits.erase(charges.limits.begin() + at);
    }
    std::ranges::reverse(not_checked_);
}

void CheckedRequest::claim_permit(routing::Charges& charges, std::span<const Field> fields) {
    if (const auto shown = http::shown_permit(fields))
        prepaid_ = context_.shared.prepaid.claim(*shown, now_.steady);
    if (proxy::leave_out_paid(charges, prepaid_))
        return;
    prepaid_ = {};
    ++context_.counters.tickets_unknown;
}

limits::Decision
CheckedRequest::admit_now(routing::Charges& charges, const routing::KeyFacts& facts) {
    proxy::RateLimitHeaders* const told = route_->telling.any ? &rate_limit_headers_ : nullptr;
    if (route_->reserves) {
        proxy::Reserving reserving{
            charges, facts, context_.key_scratch, context_.shared.ticket_hasher};
        limits::Decision decision = reserving.admit(now_, told);
        if (!decision.allowed())
            reserving.add_tickets(reply_);
        return decision;
    }
    const bool awaited = std::ranges::any_of(
        charges.limits, [](const auto* each) { return each->wait && each->limit->awaited(); });
    if (awaited)
        return admit_behind_line(charges);
    return told != nullptr ? told->admit(charges, now_) : limits::admit(charges.view(), now_);
}

// Called while others wait: admits the request only if it need not queue behind them.
limits::Decision CheckedRequest::admit_behind_line(const routing::Charges& charges) {
    const auto queued = std::make_unique<proxy::QueuedRequest>(context_.wakeups);
    queued->charges.assign(charges.charges.begin(), charges.charges.end());
    queued->asked = charges;
    for (const routing::RouteLimit* const each : charges.limits) {
        limits::WaitTerms& terms = queued->terms.emplace_back();
        terms.waits = each->wait.has_value();
        terms.max_waiting = each->wait ? each->wait->max_waiting : 0;
    }
    if (queued->queue().enter(*queued, now_) != limits::AdmissionQueue::Entered::waiting) {
        if (route_->telling.any)
            rate_limit_headers_.note_turn(
                charges.view(), {charges.limits.data(), charges.limits.size()}, queued->decision,
                now_);
        return std::move(queued->decision);
    }
    limits::Decision refused; // its turn would come any moment
    refused.refusal = limits::Refusal::window;
    refused.refused_by = queued->waited_for;
    refused.retry_after = std::chrono::milliseconds{1};
    return refused;
}

void CheckedRequest::refuse(const routing::Charges& charges, const limits::Decision& decision) {
    const Duration retry_after =
        proxy::note_refusal(context_, *config_, recent_, charges, decision);
    prepaid_ = {};
    reply_.refuse(charges, decision, retry_after);
    status_ = charges.limits[decision.refused_by]->answer.status;
}

void CheckedRequest::deny(const routing::RouteLimit& limit, routing::Denial denial) {
    proxy::note_denial(context_, recent_, limit);
    reply_.deny(limit, denial);
    status_ = 403;
}

void CheckedRequest::fail(int status, std::string_view detail) {
    reply_.explain(std::string{detail});
    status_ = status;
}

} // namespace stint::permits
