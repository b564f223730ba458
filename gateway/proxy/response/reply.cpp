// The gateway's own replies.
#include "net/clock.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {
// Sends the reply in one write: the path of a 429. True: nothing is left to wait for.
bool Exchange::reply_at_once() {
    if (abort_reason_ != AbortReason::no || body_pump_.begun)
        stream_.close_after();
    make_reply();
    const server::Sent sent =
        stream_.send_local(context_.response, context_.dates.format(begun_.wall));
    if (sent == server::Sent::gone) {
        abort(AbortReason::client_gone);
        return true;
    }
    return sent == server::Sent::all && (stream_.body_done() || !stream_.keeps_alive());
}

net::Task<> Exchange::reply() {
    stop_pump();
    co_await join();
    // The rest concerns the client alone: it needs neither the upstream nor a slot of a cap.
    lease_ = {};
    in_flight_.release();
    pass_ = {};
    admission_.permit().release({net::read_steady_clock(), begun_.wall});
    upstream_keeps_ = false;
    reply_for_abort();
    if (abort_reason_ == AbortReason::client_gone)
        co_return;
    // Results of co_await have names everywhere: GCC 12 has given this frame, with unnamed ones in
    // conditions, two layouts.
    bool sent = co_await send_unsent(); // an interim response's bytes
    if (!sent || (!stream_.head_sent() && reply_at_once()))
        co_return;
    sent = co_await send_unsent();
    if (sent)
        co_await stream_.discard_body();
}

// Sets the reply for the abort reason. An upstream's failure does not speak against the client's
// connection, which goes on.
void Exchange::reply_for_abort() {
    const auto upstream_failed = [this](int status, std::string detail) {
        abort_reason_ = AbortReason::no;
        fail(status, std::move(detail), observe::Outcome::upstream_failed);
    };
    switch (abort_reason_) {
    case AbortReason::no:
        return;
    case AbortReason::client_gone:
        status_ = stream_.head_sent() ? status_ : 499;
        outcome_ = observe::Outcome::client_gone;
        return;
    case AbortReason::client_stalled:
        return fail(
            408, "the request's body did not arrive in time", observe::Outcome::client_gone);
    case AbortReason::bad_body:
        return end_as(400, observe::Outcome::rejected); // the pump has explained
    case AbortReason::body_too_long:
        return fail(413, std::string{admission::body_too_long}, observe::Outcome::rejected);
    case AbortReason::connect_timeout:
        return upstream_failed(504, "connecting to " + pool_->endpoint() + " took too long");
    case AbortReason::handshake_timeout:
        return upstream_failed(
            504, "the TLS handshake with " + pool_->endpoint() + " took too long");
    case AbortReason::response_timeout:
        return upstream_failed(504, pool_->endpoint() + " did not answer in time");
    case AbortReason::upstream_stalled:
        return upstream_failed(504, pool_->endpoint() + " did not take the request in time");
    case AbortReason::upstream_broken:
        return upstream_failed(502, pool_->endpoint() + " broke off");
    }
}

void Exchange::make_reply() {
    name_request(); // a head that could not be read has brought no id
    const bool responds = outcome_ == observe::Outcome::responded;
    if (!responds && !admission_.reply().knows_media())
        admission_.reply().use(http::preferred_media_type(stream_.head().fields));
    http::ReplyContext context{.request_id = request_id_};
    if (!admission_.headers().empty()) {
        // A refusal's decision was made a moment ago: the clock is not read again.
        const bool just_decided = outcome_ == observe::Outcome::refused;
        const SteadyTime now =
            just_decided ? admission_.decided().steady : net::read_steady_clock();
        context.policies = admission_.headers().fields(route().telling, {now, wall_at(now)});
    }
    if (responds) [[unlikely]]
        make_answer(context);
    else
        admission_.reply().make(context_.response, context, status_);
}

} // namespace stint::proxy
