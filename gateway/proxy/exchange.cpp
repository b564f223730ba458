#include "proxy/exchange.hpp"

#include "net/clock.hpp"
#include "proxy/response/local_response.hpp"

#include <string>
#include <utility>

namespace stint::proxy {

Exchange::Exchange(Context& context, server::ClientStream& stream)
    : request_{context, stream, *this} {}

Exchange::Step Exchange::on_request() {
    next_ = decide();
    if (next_ == Next::reply)
        return !request_.is_aborted() && reply_at_once() ? Step::done : Step::rest;
    if (next_ == Next::forward) [[likely]]
        next_ = sender_.send_at_once();
    if (next_ != Next::sent)
        return Step::rest;
    sender_.stream().receive_then(*this);
    return Step::pending;
}

Exchange::Step Exchange::on_bad_request(int status, std::string_view detail) {
    if (!request_.head().method.empty())
        request_.take_head();
    request_.stream().close_after();
    const bool late = status == 408;
    request_.fail(
        status, std::string{detail},
        late ? observe::Outcome::client_gone : observe::Outcome::rejected);
    return reply_at_once() ? Step::done : Step::rest;
}

// Decides from the request's head whether to forward, wait or reply. Does no I/O.
Next Exchange::decide() {
    request_.take_head();
    if (!request_.enter()) [[unlikely]]
        return Next::reply;
    if (request_.stream().connection().https_port != 0) [[unlikely]] {
        redirect_to_https(request_);
        return Next::reply;
    }
    routing::KeyFacts facts = request_.facts();
    Next next = request_.decide(facts);
    if (next == Next::reply)
        return next;
    if (request_.route().answer == nullptr) [[likely]]
        prepare_forwarding(facts);
    if (next == Next::wait_cooldown) [[unlikely]] {
        next = cooldown_.enqueue(request_.record().arrived().steady);
        if (next == Next::forward)
            next = request_.take(request_.admission().admit(facts));
    }
    return next;
}

// Chooses the request's origin, and notes the protocols that the request offers in Upgrade.
void Exchange::prepare_forwarding(const routing::KeyFacts& facts) {
    endpoint_.choose_origin(facts);
    upgrade_ = Upgrade::offered_by(request_);
    if (!upgrade_) [[likely]]
        return;
    sender_.offer(upgrade_->offer());
    relay_.set_upgrade(*upgrade_);
}

net::Task<> Exchange::rest() {
    if (failure_)
        std::rethrow_exception(failure_);
    const bool answered = co_await run_attempts();
    if (!answered)
        co_return co_await reply();
    if (!relay_.is_complete()) {
        relay_.clear_end();
        co_await relay_.relay_body();
    }
    if (upgrade_ && upgrade_->switched()) {
        relay_.clear_end();
        co_await upgrade_->run(sender_.stream());
    }
    pump_.stop();
    co_await pump_.join();
}

// Waits and sends, with retries, until the head of a response was sent to the client. Returns false
// if the gateway has to reply itself.
net::Task<bool> Exchange::run_attempts() {
    while (answer_ == Answer::incomplete || answer_ == Answer::retry) {
        if (waits(next_)) [[unlikely]]
            co_await wait();
        if (next_ == Next::reply || request_.is_aborted())
            co_return false;
        if (answer_ == Answer::retry) [[unlikely]] {
            co_await sender_.rewind();
            relay_.restart();
            answer_ = Answer::incomplete;
            next_ = Next::forward;
            if (request_.is_aborted())
                co_return false;
        }
        if (next_ == Next::forward) {
            const Next next = co_await sender_.send_slowly();
            next_ = next;
        }
        if (next_ != Next::sent)
            continue;
        const ErrorCode error = co_await sender_.stream().receive();
        answer_ = relay_.take(error);
    }
    co_return answer_ == Answer::ready;
}

// Waits for limits, a pause or an endpoint, until the request has been sent, may be sent on a new
// connection, or has to be answered by the gateway.
net::Task<> Exchange::wait() {
    while (waits(next_)) {
        Next next = Next::reply;
        if (next_ == Next::wait_endpoint) {
            next = co_await endpoint_.wait();
            request_.end_wait();
        } else if (next_ == Next::wait_cooldown) {
            next = co_await cooldown_.wait();
            request_.end_wait();
            if (next == Next::forward)
                next = admit_after_pause();
        } else {
            next = co_await wait_for_limits();
        }
        next_ = next == Next::forward ? sender_.send_at_once() : next;
    }
}

// Asks the limits again, after the end of a pause. The request's route is already known.
Next Exchange::admit_after_pause() {
    if (request_.context().totals.successor != nullptr) [[unlikely]] {
        on_hand_over();
        return Next::reply;
    }
    routing::KeyFacts facts = request_.facts();
    request_.admission().complete(request_.head(), facts);
    return request_.take(request_.admission().admit(facts));
}

// Waits in the admission queue, or for larger shares. Watches the client meanwhile, but does not
// read its body. Always ends: with the decision, or when the exchange is aborted.
net::Task<Next> Exchange::wait_for_limits() {
    WorkerCallbacks& callbacks = request_.callbacks();
    request_.stream().watch();
    if (callbacks.share_wakeup().is_begun())
        co_await callbacks.share_wakeup().until_answered();
    else
        co_await callbacks.queued()->wait();
    request_.stream().poll_peer_close();
    co_return finish_wait();
}

Next Exchange::finish_wait() {
    WorkerCallbacks& callbacks = request_.callbacks();
    admission::RequestAdmission& admission = request_.admission();
    const Duration waited = request_.end_wait();
    if (request_.is_aborted()) {
        callbacks.drop_queued(); // refunds a permit that was not taken
        return Next::reply;
    }
    if (callbacks.share_wakeup().is_begun()) {
        callbacks.share_wakeup().end();
        return request_.take(admission.finish_shares());
    }
    const Next next = request_.take(admission.finish_queue(*callbacks.queued(), waited));
    callbacks.drop_queued();
    return next;
}

// Takes the upstream's bytes. The call of resume() may destroy this object.
void Exchange::on_response(const ErrorCode& error) {
    Step next = Step::rest;
    try {
        next = take_response(error);
        if (next == Step::pending)
            return sender_.stream().receive_then(*this);
    } catch (const std::exception&) {
        failure_ = std::current_exception();
        next = Step::rest;
    }
    request_.stream().resume(next);
}

Exchange::Step Exchange::take_response(const ErrorCode& error) {
    answer_ = relay_.take(error);
    if (answer_ == Answer::incomplete)
        return Step::pending;
    const bool all = answer_ == Answer::ready && relay_.is_complete() && !upgrade_;
    return all && !pump_.is_running() ? Step::done : Step::rest;
}

// Sends the gateway's reply in one write, which suffices for a 429. Returns true if the request
// needs no further wait.
bool Exchange::reply_at_once() {
    server::ClientStream& client = request_.stream();
    if (request_.is_aborted() || pump_.has_begun())
        client.close_after();
    make_local_response(request_);
    Context& context = request_.context();
    const server::Sent sent =
        client.send_local(context.response, context.dates.format(request_.record().arrived().wall));
    if (sent == server::Sent::gone) {
        request_.abort(AbortReason::client_gone);
        return true;
    }
    return sent == server::Sent::all && (client.body_done() || !client.keeps_alive());
}

net::Task<> Exchange::reply() {
    relay_.clear_end();
    pump_.stop();
    co_await pump_.join();
    // The reply needs neither the upstream nor a concurrency slot: release them before it is sent.
    sender_.drop_stream();
    endpoint_.release_place();
    cooldown_.release();
    request_.admission().permit().release(
        {net::read_steady_clock(), request_.record().arrived().wall});
    reply_for_abort();
    if (request_.abort_reason() == AbortReason::client_gone)
        co_return;
    // Each result of co_await gets a named variable: with unnamed ones in conditions, GCC 12 gave
    // this coroutine's frame two layouts.
    bool sent = co_await relay_.send_unsent(); // the unsent rest of an interim response
    if (!sent || (!request_.stream().head_sent() && reply_at_once()))
        co_return;
    sent = co_await relay_.send_unsent();
    if (sent)
        co_await request_.stream().discard_body();
}

// Sets the reply for the abort reason. If the upstream has failed, the client's connection may
// still be kept alive.
void Exchange::reply_for_abort() {
    const AbortReason why = request_.abort_reason();
    if (why == AbortReason::no)
        return;
    AbortReply reply = reply_of(why, endpoint_.name());
    if (reply.outcome == observe::Outcome::upstream_failed) {
        request_.set_abort_reason(AbortReason::no);
        sender_.fail(reply.status, std::move(reply.detail));
    } else if (!reply.detail.empty()) {
        request_.fail(reply.status, std::move(reply.detail), reply.outcome);
    } else { // the reply has its explanation, or the client has gone
        const bool has_status = why == AbortReason::client_gone && request_.stream().head_sent();
        request_.record().end_as(
            has_status ? request_.record().status() : reply.status, reply.outcome);
    }
}

net::Task<> Exchange::join() {
    co_await pump_.join();
    if (upgrade_)
        co_await upgrade_->join();
}

void Exchange::poll_tunnel() noexcept {
    if (upgrade_)
        upgrade_->poll_peer_close();
}

// Ends all waits: their coroutines check whether the request is aborted. What the exchange holds of
// the limits is free at once if the client has gone, as nothing is left to be sent: over HTTP/2 the
// bytes that told so may bring requests that need it.
void Exchange::on_abort() noexcept {
    sender_.abort();
    if (request_.abort_reason() == AbortReason::client_gone) {
        endpoint_.release_place();
        cooldown_.release();
        request_.release({net::read_steady_clock(), request_.record().arrived().wall});
    }
    request_.cancel_limits();
    cooldown_.cancel();
    endpoint_.cancel();
    if (upgrade_)
        upgrade_->end();
    if (request_.waits_for_client() || pump_.waits_for_client())
        request_.stream().cancel();
}

server::RequestEnd Exchange::finish() {
    request_.disarm();
    const bool cut = note_cut();
    // A response that came in one piece ended when its head was read. The end's wall time is
    // computed from the steady clock: the wall clock is not read again.
    const SteadyTime ended =
        relay_.ended_at() > SteadyTime{} ? relay_.ended_at() : net::read_steady_clock();
    const Now now{ended, request_.record().wall_at(ended)};
    const bool clean =
        !request_.is_aborted() && request_.stream().body_done() && !pump_.is_running();
    sender_.end(clean, now.steady);
    endpoint_.release_place();
    if (given_back_) [[unlikely]] {
        request_.release(now);
        return {.given_back = true};
    }
    request_.end(now, endpoint_.name(), sender_.attempts());
    return {
        .clean = clean, .reset = cut, .gone = request_.abort_reason() == AbortReason::client_gone};
}

server::GivenBack Exchange::given_back() const {
    return {.since = request_.record().arrived().steady};
}

void Exchange::on_hand_over() noexcept {
    if (!waits(next_) || next_ == Next::wait_endpoint || given_back_)
        return;
    given_back_ = true;
    request_.abort(AbortReason::client_gone);
}

// Records who broke off a response after its head. Returns true if it was broken off: the client's
// connection must then be reset, so that a part is not taken for the whole response.
bool Exchange::note_cut() noexcept {
    RequestRecord& record = request_.record();
    if (!request_.is_aborted() || record.outcome() != observe::Outcome::forwarded)
        return false;
    record.end_as(
        record.status(), by_upstream(request_.abort_reason()) ? observe::Outcome::upstream_failed
                                                              : observe::Outcome::client_gone);
    return true;
}

} // namespace stint::proxy
