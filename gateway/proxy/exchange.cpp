#include "proxy/exchange.hpp"

#include "net/clock.hpp"
#include "proxy/response/tunnel.hpp"

namespace stint::proxy {

Exchange::Exchange(Context& context, server::ClientStream& stream)
    : context_{context}, stream_{stream}, config_{context.active}, callbacks_{context, *config_},
      admission_{
          admission::Door::proxy,
          {.snapshot = *config_->snapshot,
           .scratch = context.scratch,
           .callbacks = callbacks_,
           .ticket_hasher = &context.shared().ticket_hasher,
           .prepaid = &context.shared().prepaid}},
      client_{stream.connection().peer}, begun_{net::read_clocks()} {}

Exchange::~Exchange() = default;

Exchange::Step Exchange::on_request() {
    next_ = decide();
    if (next_ == Next::reply)
        return abort_reason_ == AbortReason::no && reply_at_once() ? Step::done : Step::rest;
    sent_inline_ = next_ == Next::forward && send_at_once();
    if (!sent_inline_)
        return Step::rest;
    begin_answer_read();
    return Step::pending;
}

Exchange::Step Exchange::on_bad_request(int status, std::string_view detail) {
    if (!stream_.head().method.empty())
        remember(stream_.head());
    stream_.close_after();
    const bool late = status == 408;
    fail(
        status, std::string{detail},
        late ? observe::Outcome::client_gone : observe::Outcome::rejected);
    return reply_at_once() ? Step::done : Step::rest;
}

net::Task<> Exchange::rest() {
    if (failure_)
        std::rethrow_exception(failure_);
    bool sent = sent_inline_;
    while (answer_ == Answer::incomplete || answer_ == Answer::retry) {
        if (next_ != Next::forward && next_ != Next::reply) [[unlikely]]
            sent = co_await wait_to_send();
        if (next_ == Next::reply)
            co_return co_await reply();
        const bool again = answer_ == Answer::retry;
        if (again) [[unlikely]]
            co_await rewind();
        if (abort_reason_ != AbortReason::no)
            co_return co_await reply();
        if (!sent || again)
            sent = co_await send_slowly();
        if (next_ == Next::wait_cooldown) [[unlikely]]
            continue;
        if (!sent)
            co_return co_await reply();
        auto [error, size] = co_await read_answer();
        answer_ = on_answer(error, size);
    }
    if (answer_ == Answer::failed)
        co_return co_await reply();
    if (!response_body_.done() || stream_.has_unsent())
        co_await stream_response();
    if (tunnels())
        co_await run_tunnel();
    stop_pump();
    co_await join();
}

net::Task<> Exchange::join() {
    while (body_pump_.running)
        co_await body_pump_.stopped.wait();
}

server::RequestEnd Exchange::finish() {
    disarm();
    const bool cut = classify_abort();
    // A response that came in one piece ends when its head was read. The wall clock is not read
    // again: what happened in between is measured, not stamped.
    const SteadyTime ended = answered_ > SteadyTime{} ? answered_ : net::read_steady_clock();
    const Now now{ended, begun_.wall + (ended - begun_.steady)};
    const bool clean =
        abort_reason_ == AbortReason::no && stream_.body_done() && !body_pump_.running;
    if (clean && request_sent_ && upstream_keeps_ && lease_ && !route().sends_proxy_protocol)
        lease_.keep(now.steady);
    else
        lease_.abort();
    in_flight_.release();
    if (!admission_.settlement().empty()) [[unlikely]]
        admission_.settlement().settle_end(status_, admission_.permit(), now);
    admission_.permit().release(now);
    record(now);
    return {.clean = clean, .reset = cut, .gone = abort_reason_ == AbortReason::client_gone};
}

// Records by whom a response was broken off after its head. True: it was, and closing the
// connection resets it, so that the client does not take what it got for the whole.
bool Exchange::classify_abort() noexcept {
    if (abort_reason_ == AbortReason::no || outcome_ != observe::Outcome::forwarded)
        return false;
    outcome_ = by_upstream(abort_reason_) ? observe::Outcome::upstream_failed
                                          : observe::Outcome::client_gone;
    return true;
}

void Exchange::record(const Now& now) {
    auto& counters = context_.counters.routes[has_route() ? route().metric : 0];
    const bool answered = stream_.bytes_out() > 0;
    const auto status_class = static_cast<std::size_t>(answered ? status_ / 100 : 0);
    ++counters.requests[static_cast<std::size_t>(outcome_)][status_class];
    counters.bytes_in += stream_.bytes_in();
    counters.bytes_out += stream_.bytes_out();
    if (context_.access_log.enabled())
        log(now);
}

void Exchange::log(const Now& now) {
    observe::AccessRecord record;
    record.time = begun_.wall;
    record.request_id = request_id_;
    record.client = client_->text();
    record.host = stream_.head().authority;
    record.route = has_route() ? std::string_view{route().name} : std::string_view{};
    record.method = stream_.head().method;
    record.path = stream_.head().target;
    record.limit = admission_.reply().limit();
    record.would_refuse = admission_.would_refuse();
    record.cost_overrun = admission_.settlement().overrun();
    record.upstream = pool_ != nullptr ? std::string_view{pool_->endpoint()} : std::string_view{};
    record.upstream_error = admission_.reply().upstream_error();
    record.attempts = attempts_.made;
    record.status = status_;
    record.outcome = outcome_;
    record.bytes_in = stream_.bytes_in();
    record.bytes_out = stream_.bytes_out();
    record.duration = now.steady - begun_.steady;
    record.waited = waited_;
    record.upstream_time = upstream_time_;
    record.fields = logged_;
    context_.access_log.write(record);
}

void Exchange::poll_tunnel() noexcept {
    if (tunnels() && upgrade_->tunnel)
        upgrade_->tunnel->poll_peer_close();
}

// Aborts the exchange: the pending wait ends with an error, and its coroutine checks abort_reason_.
void Exchange::abort(AbortReason why) noexcept {
    // A connect time-out may yet be retried, for a client that is still there.
    const bool worse =
        abort_reason_ == AbortReason::connect_timeout && why == AbortReason::client_gone;
    if (abort_reason_ != AbortReason::no && !worse)
        return;
    abort_reason_ = why;
    lease_.abort();
    if (QueuedRequest* const queued = callbacks_.queued())
        context_.wakeups.give_up(*queued);
    if (cooldown_wait_)
        cooldown_wait_->give_up();
    if (endpoint_wait_)
        endpoint_wait_->give_up();
    if (tunnels() && upgrade_->tunnel)
        upgrade_->tunnel->end();
    if (waiting_ == Waiting::client || body_pump_.reads)
        stream_.cancel();
}

void Exchange::arm(Waiting what, Duration length) {
    waiting_ = what;
    context_.deadlines.arm(*this, length, net::read_coarse_clock());
}

void Exchange::on_deadline() noexcept {
    abort(timeout_reason(waiting_));
}

observe::UpstreamCounters& Exchange::upstream_counters() const noexcept {
    return context_.counters.upstreams[snapshot().upstreams[route().upstream].metric];
}

} // namespace stint::proxy
