#include "proxy/exchange.hpp"

#include "net/clock.hpp"
#include "proxy/downstream.hpp"
#include "proxy/tunnel.hpp"

namespace stint::proxy {

Exchange::Exchange(Context& context, Downstream& downstream)
    : context_{context}, downstream_{downstream}, config_{context.active},
      client_{&downstream.peer()}, begun_{net::read_clocks()}, decided_{begun_} {}

Exchange::~Exchange() {
    if (route_ != nullptr)
        --context_.counters.routes[route_->metric].in_flight;
}

Exchange::Step Exchange::begin(std::string_view head) {
    next_ = decide(head);
    if (next_ == Next::reply)
        return broken_ == Broken::no && reply_at_once() ? Step::over : Step::rest;
    sent_at_once_ = next_ == Next::forward && send_at_once();
    return sent_at_once_ ? Step::answer : Step::rest;
}

Exchange::Step Exchange::take_answer(const ErrorCode& error, std::size_t size) {
    answer_ = on_answer(error, size);
    if (answer_ == Answer::incomplete)
        return Step::answer;
    const bool all = answer_ == Answer::ready && response_body_.done() && unsent_.empty() &&
                     switching_ == nullptr;
    return all && !body_pump_.running ? Step::over : Step::rest;
}

net::Task<Exchange::Result> Exchange::rest() {
    bool sent = sent_at_once_;
    while (answer_ == Answer::incomplete || answer_ == Answer::retry) {
        if (next_ != Next::forward && next_ != Next::reply) [[unlikely]]
            sent = co_await wait_to_send();
        if (next_ == Next::reply)
            co_return co_await reply();
        const bool again = answer_ == Answer::retry;
        if (again) [[unlikely]]
            co_await rewind();
        if (broken_ != Broken::no)
            co_return co_await reply();
        if (!sent || again)
            sent = co_await send_slowly();
        if (next_ == Next::pause) [[unlikely]]
            continue;
        if (!sent)
            co_return co_await reply();
        auto [error, size] = co_await read_answer();
        answer_ = on_answer(error, size);
    }
    if (answer_ == Answer::failed)
        co_return co_await reply();
    if (!response_body_.done() || !unsent_.empty())
        co_await stream_response();
    if (tunnels())
        co_await run_tunnel();
    stop_pump();
    while (body_pump_.running)
        co_await body_pump_.stopped.wait();
    co_return finish();
}

net::Task<Exchange::Result> Exchange::reject(int status, std::string_view detail) {
    fail(status, std::string{detail}, observe::Outcome::rejected);
    if (status == 408)
        outcome_ = observe::Outcome::client_gone;
    co_return co_await reply();
}

Exchange::Result Exchange::finish() {
    disarm();
    const bool cut = judge_break();
    // A response that came in one piece ends when its head was read. The wall clock is not read
    // again: what happened in between is measured, not stamped.
    const SteadyTime ended = answered_ > SteadyTime{} ? answered_ : net::read_steady_clock();
    const Now now{ended, begun_.wall + (ended - begun_.steady)};
    const bool clean = broken_ == Broken::no && request_body_.done() && !body_pump_.running;
    if (clean && request_sent_ && upstream_keeps_ && lease_ && !route_->introduces)
        lease_.keep(now.steady);
    else
        lease_.abort();
    charge_.release();
    if (!settlement_.empty()) [[unlikely]]
        settlement_.settle_end(status_, permit_, now);
    permit_.release(now);
    record(now);
    const bool unread = !request_body_.done() || downstream_.received().size() > consumed_;
    // Also while draining: a client that was told so may have sent its next request already.
    const bool keep = keep_ && clean;
    const bool linger = !keep && !cut && unread && broken_ != Broken::client_gone;
    return {keep, linger, consumed_};
}

// A response that broke off after its head: the record says by whom, and the client must not take
// what it got for the whole: then true, and whoever closes the connection resets it.
bool Exchange::judge_break() noexcept {
    if (broken_ == Broken::no || outcome_ != observe::Outcome::forwarded)
        return false;
    outcome_ =
        by_upstream(broken_) ? observe::Outcome::upstream_failed : observe::Outcome::client_gone;
    net::cut_short(downstream_.stream());
    return true;
}

void Exchange::record(const Now& now) {
    auto& counters = context_.counters.routes[route_ != nullptr ? route_->metric : 0];
    const bool answered = bytes_out_ > 0;
    const auto status_class = static_cast<std::size_t>(answered ? status_ / 100 : 0);
    ++counters.requests[static_cast<std::size_t>(outcome_)][status_class];
    counters.bytes_in += bytes_in_;
    counters.bytes_out += bytes_out_;
    if (context_.access_log.enabled())
        log(now);
}

void Exchange::log(const Now& now) {
    observe::AccessRecord record;
    record.time = begun_.wall;
    record.request_id = request_id_;
    record.client = client_->text();
    record.host = host_;
    record.route = route_ != nullptr ? std::string_view{route_->name} : std::string_view{};
    record.method = method_;
    record.path = target_;
    record.limit = reply_.limit();
    record.would_refuse = would_refuse_;
    record.cost_overrun = settlement_.overrun();
    record.upstream = pool_ != nullptr ? std::string_view{pool_->endpoint()} : std::string_view{};
    record.upstream_error = reply_.upstream_error();
    record.attempts = attempts_.made;
    record.status = status_;
    record.outcome = outcome_;
    record.bytes_in = bytes_in_;
    record.bytes_out = bytes_out_;
    record.duration = now.steady - begun_.steady;
    record.waited = waited_;
    record.upstream_time = upstream_time_;
    record.fields = logged_;
    context_.access_log.write(record);
}

void Exchange::on_client_gone() noexcept {
    break_off(Broken::client_gone);
}

void Exchange::look_at_tunnel() noexcept {
    if (tunnels())
        switching_->tunnel->look_for_end();
}

void Exchange::on_client_stalled() noexcept {
    // An answer that came before the body's end goes its way; the pump ends with it.
    if (head_sent_ && body_pump_.running)
        return downstream_.arm_body_deadline(route_->timeouts.body_idle);
    break_off(body_pump_.writes ? Broken::upstream_stalled : Broken::client_stalled);
}

// Whatever is being waited for ends with an error, and the coroutine that waits looks at broken_.
void Exchange::break_off(Broken why) noexcept {
    // A connect time-out may yet be retried, for a client that is still there.
    const bool worse = broken_ == Broken::connect_timeout && why == Broken::client_gone;
    if (broken_ != Broken::no && !worse)
        return;
    broken_ = why;
    lease_.abort();
    if (turn_)
        context_.turns.give_up(*turn_);
    if (hold_)
        hold_->give_up();
    if (place_)
        place_->give_up();
    if (tunnels())
        switching_->tunnel->end();
    if (waiting_ == Waiting::client || body_pump_.reads)
        net::cancel(downstream_.stream());
}

void Exchange::arm(Waiting what, Duration length) {
    waiting_ = what;
    context_.deadlines.arm(*this, length, net::read_coarse_clock());
}

void Exchange::on_deadline() noexcept {
    break_off(missed(waiting_));
}

observe::UpstreamCounters& Exchange::upstream_counters() const noexcept {
    return context_.counters.upstreams[snapshot().upstreams[route_->upstream].metric];
}

} // namespace stint::proxy
