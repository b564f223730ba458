#include "permits/checked_request.hpp"

#include "net/clock.hpp"

#include <string>

namespace stint::permits {

using admission::Next;

CheckedRequest::CheckedRequest(
    proxy::Context& context, std::optional<int> deny, const server::ConnectionInfo& connection)
    : context_{context}, config_{context.active}, deny_{deny},
      callbacks_{context, *config_, connection.waits, connection.waiting_since},
      admission_{
          admission::Door::check,
          {.snapshot = *config_->snapshot,
           .scratch = context.scratch,
           .callbacks = callbacks_,
           .ticket_hasher = &context.shared().ticket_hasher,
           .prepaid = &context.shared().prepaid,
           .shares = &context.shares}} {}

CheckedRequest::Step
CheckedRequest::begin(std::string_view text, const routing::ClientAddress& peer) {
    const routing::Snapshot& snapshot = *config_->snapshot;
    const Now now = net::read_clocks();
    const auto head = context_.parser.parse_request(
        text, {.max_target = snapshot.heads.max_target, .max_fields = snapshot.heads.max_fields});
    if (!head) {
        admission_.reply().explain(std::string{head.error().detail});
        status_ = head.error().status;
        return Step::answered;
    }
    request_id_ = http::shown_request_id(head->fields);
    if (request_id_.empty()) {
        made_id_ = context_.request_ids.make(now.wall);
        request_id_ = {made_id_.data(), made_id_.size()};
    }
    callbacks_.name(request_id_, now.wall);
    const routing::ClientAddress client{
        routing::client_behind(peer.address(), head->fields, snapshot.trusted),
        context_.shared().hasher};
    routing::KeyFacts facts = admission::facts_of(*head, client, context_.shared().hasher);
    const Step step = step_of(admission_.decide(*head, facts, 0, now));
    if (step == Step::waits) { // the head does not outlive this call
        kept_id_ = request_id_;
        request_id_ = kept_id_;
        callbacks_.name(request_id_, now.wall);
    }
    return step;
}

// Maps the admission's next step to this operation's step, and copies the status of a refusal.
CheckedRequest::Step CheckedRequest::step_of(Next next) {
    if (next == Next::reply)
        status_ = admission_.ending().status;
    return next == Next::wait_queue || next == Next::wait_shares ? Step::waits : Step::answered;
}

net::Task<> CheckedRequest::wait() {
    return callbacks_.share_wakeup().is_begun() ? callbacks_.share_wakeup().until_answered()
                                                : callbacks_.queued()->wait();
}

void CheckedRequest::give_up() noexcept {
    if (callbacks_.share_wakeup().is_begun())
        callbacks_.share_wakeup().give_up();
    else if (callbacks_.queued() != nullptr)
        context_.wakeups.give_up(*callbacks_.queued());
}

bool CheckedRequest::settle() {
    const Duration waited = admission_.resume(net::read_clocks());
    if (callbacks_.share_wakeup().is_begun()) {
        callbacks_.share_wakeup().end();
        return step_of(admission_.finish_shares()) == Step::answered;
    }
    const Next next = admission_.finish_queue(*callbacks_.queued(), waited);
    callbacks_.drop_queued();
    return step_of(next) == Step::answered;
}

} // namespace stint::permits
