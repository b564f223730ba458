#include "proxy/forward/request_sender.hpp"

#include "http/trailers.hpp"
#include "net/clock.hpp"
#include "proxy/forward/proxy_protocol_header.hpp"
#include "proxy/forward/shaping.hpp"
#include "server/resource_exhaustion.hpp"

#include <optional>
#include <utility>

namespace stint::proxy {

Next RequestSender::send_at_once() {
    const SteadyTime now = request_.admission().decided().steady;
    if (const Next next = may_send(now); next != Next::forward) [[unlikely]]
        return next;
    if (request_.route().retry.any() && retry_.count_request()) [[unlikely]]
        endpoint_.cluster().retry_budget().note_request(now);
    if (const Next next = endpoint_.take_first(); next != Next::forward) [[unlikely]]
        return next;
    if (!request_.route().sends_proxy_protocol) [[likely]]
        stream_ = endpoint_.streams().take_idle();
    if (!stream_)
        return Next::forward;
    net::Block block;
    std::string_view ahead = pump_.held(); // kept if an earlier attempt was interrupted by a pause
    if (ahead.empty() && !request_.stream().body_done())
        ahead = pump_.read_ahead(block);
    ++endpoint_.counters().reused;
    const ErrorCode error = send_request(ahead);
    if (!error && !stream_->has_unsent()) [[likely]] {
        was_sent(ahead.size(), now);
        return Next::sent;
    }
    pump_.hold(ahead);
    if (error && !stream_->request_begun()) {
        replace_idle_connection();
        return Next::forward;
    }
    was_sent_in_part(error, now);
    return Next::sent;
}

// Checks right before a send: during a wait, a pause may have begun, or the request's fencing token
// may have become stale.
Next RequestSender::may_send(SteadyTime now) {
    const bool sent_before = sent_ != SteadyTime{};
    const Next next = cooldown_.ask(now, sent_before);
    if (next != Next::forward && !sent_before && request_.route().cooldown.rules.waits) [[unlikely]]
        give_back_admission({now, request_.record().wall_at(now)});
    if (next != Next::forward || request_.admission().fence_holds()) [[likely]]
        return next;
    return request_.take(admission::Next::reply);
}

// Refunds everything: a request that waits for a pause to end holds no charge and no slot, and asks
// its limits again afterwards. A request refused because the pause is too long is not charged
// either.
void RequestSender::give_back_admission(const Now& now) {
    request_.admission().undo(now);
    stream_.reset();
    request_.disarm();
    endpoint_.leave();
    retry_.restart();
}

// ahead: bytes of the body that follow those read with the head.
ErrorCode RequestSender::send_request(std::string_view ahead) {
    const RequestHead& head = request_.head();
    const std::optional<http::Shaping> shape =
        request_.route().shape == nullptr ? std::nullopt
                                          : shaping(request_, &routing::RouteShape::request);
    http::Forwarding forwarding = forwarding_of(
        request_, endpoint_.spec().host, endpoint_.authority(), shape ? &*shape : nullptr);
    forwarding.upgrade = offer_;
    return stream_->send_request(
        {.head = head,
         .forwarding = forwarding,
         .max_response_head = request_.snapshot().heads.max_head,
         .trailers = head.ids.contains(FieldId::te) && http::takes_trailers(head)},
        {.payload = request_.stream().buffered_body(),
         .ahead = ahead,
         .last = request_.stream().body_done()});
}

// Notes that the head and all bytes of the body read so far were sent.
void RequestSender::was_sent(std::size_t ahead, SteadyTime at) {
    sent_ = at;
    pump_.first_piece_was_sent(ahead);
    if (!request_.stream().body_done())
        return pump_.begin(*stream_);
    request_.arm(Waiting::response, request_.route().timeouts.response);
    request_.stream().watch();
}

// Notes a partial send. The upstream may answer before it has the whole request (RFC 9112 section
// 9.5): the response is awaited while the pump sends on. After a write error, a response that the
// upstream sent before still counts.
void RequestSender::was_sent_in_part(const ErrorCode& error, SteadyTime at) {
    sent_ = at;
    request_.stream().watch();
    if (error)
        request_.arm(Waiting::response, request_.route().timeouts.response);
    else
        pump_.begin(*stream_);
}

// Drops an idle connection that was closed between the probe and the write. It has taken no byte of
// the request, so that any request may go on another connection.
void RequestSender::replace_idle_connection() noexcept {
    stream_.reset();
    retry_.reconnect();
    ++endpoint_.counters().retries;
}

net::Task<Next> RequestSender::send_slowly() {
    Next next = may_send(net::read_steady_clock());
    if (next != Next::forward)
        co_return next;
    request_.stream().watch();
    for (;;) {
        next = co_await open_stream();
        if (next != Next::forward)
            co_return next;
        const std::string_view ahead = pump_.held();
        const ErrorCode error = send_request(ahead);
        if (error && !stream_->request_begun() && stream_->reused()) {
            replace_idle_connection();
            continue;
        }
        const SteadyTime now = net::read_steady_clock();
        if (!error && !stream_->has_unsent())
            was_sent(ahead.size(), now);
        else
            was_sent_in_part(error, now);
        co_return request_.is_aborted() ? Next::reply : Next::sent;
    }
}

// Connects to the endpoint, and then checks again whether the request may be sent.
net::Task<Next> RequestSender::open_stream() {
    const upstream::Connected connected = co_await connect();
    if (connected.error) {
        explain(connected);
        co_return Next::reply;
    }
    const Next next = may_send(net::read_steady_clock()); // connecting took its time
    if (next == Next::forward && connected.spoke_first) {
        fail(502, endpoint_.name() + " spoke before it was asked");
        co_return Next::reply;
    }
    co_return next;
}

// For a retry, takes an idle connection to the newly chosen endpoint. Returns false if there is
// none, or if an idle connection has failed the request before.
bool RequestSender::take_idle_again() {
    if (retry_.attempts() == 1 || retry_.reconnected() || request_.route().sends_proxy_protocol)
        return false;
    stream_ = endpoint_.streams().take_idle();
    if (stream_)
        ++endpoint_.counters().reused;
    return stream_ != nullptr;
}

net::Task<upstream::Connected> RequestSender::connect() {
    const routing::Route& route = request_.route();
    const std::string first = route.sends_proxy_protocol
                                  ? proxy_protocol_header(request_, endpoint_.spec().proxy_protocol)
                                  : std::string{};
    has_made_room_ = false;
    for (;;) {
        if (take_idle_again()) [[unlikely]]
            co_return upstream::Connected{};
        stream_ = endpoint_.streams().make_new(request_.context().executor);
        ++endpoint_.counters().connects;
        request_.arm(Waiting::connect, route.timeouts.connect);
        upstream::Connected connected = co_await stream_->connect(first);
        request_.disarm();
        if (!connected.error && !request_.is_aborted())
            co_return connected;
        ++endpoint_.counters().connect_failures;
        if (made_room(connected.error))
            continue;
        if (!connected.error)
            connected.error = net::asio::error::operation_aborted;
        if (!should_retry_connect(connected))
            co_return connected;
    }
}

// Returns true, once, if a connect failed for lack of descriptors and idle connections were closed:
// the caller then connects again.
bool RequestSender::made_room(const ErrorCode& error) {
    if (!server::is_resource_exhaustion(error) || request_.is_aborted()) [[likely]]
        return false;
    Context& context = request_.context();
    context.shared().resource_exhaustion.note(error, net::read_steady_clock());
    return !std::exchange(has_made_room_, true) && context.close_idle_connections() > 0;
}

void RequestSender::explain(const upstream::Connected& connected) {
    if (request_.abort_reason() == AbortReason::connect_timeout && connected.in_handshake)
        request_.set_abort_reason(AbortReason::handshake_timeout);
    if (request_.is_aborted())
        return;
    const bool exhausted = server::is_resource_exhaustion(connected.error); // in the gateway
    if (exhausted)
        endpoint_.ignore_attempt();
    const std::string& endpoint = endpoint_.name();
    const std::string what = connected.in_handshake ? "TLS with " + endpoint + " failed: "
                                                    : "could not connect to " + endpoint + ": ";
    fail(exhausted ? 503 : 502, what + connected.why());
}

// Decides whether to retry a failed connect. A refused connect tries another endpoint once, even
// without retry rules, because nothing of the request was sent.
bool RequestSender::should_retry_connect(const upstream::Connected& connected) {
    if (server::is_resource_exhaustion(connected.error))
        return false; // the gateway's shortage: a retry does not help
    const routing::RetryRules& rules = request_.route().retry;
    const std::string why = "could not connect: " + connected.why();
    const bool refused =
        !request_.is_aborted() && connected.error == net::asio::error::connection_refused;
    if (refused && endpoint_.cluster().size() > 1 && retry_.fail_over(rules)) {
        endpoint_.failed(why);
        if (endpoint_.take_other(net::read_steady_clock(), false)) {
            retry_.begin_attempt();
            return true;
        }
    }
    if (!rules.on_connect)
        return false;
    const bool timed_out = request_.abort_reason() == AbortReason::connect_timeout;
    if (timed_out)
        request_.set_abort_reason(AbortReason::no); // set again below if there is no retry
    const bool again = should_retry(timed_out ? "connecting took too long" : why, false);
    if (timed_out && !again)
        request_.set_abort_reason(AbortReason::connect_timeout);
    return again;
}

RetryPolicy::Facts RequestSender::facts() const noexcept {
    const server::ClientStream& client = request_.stream();
    return {
        .method = client.head().method,
        .can_replay = pump_.can_replay(),
        .body_done = client.body_done(),
        .client_untold = client.bytes_out() == 0 && !client.head_sent(),
        .goes_on = !request_.is_aborted() && cooldown_.is_open(),
        .response_begun = stream_ && stream_->response_begun(),
        .request_begun = stream_ && stream_->request_begun()};
}

bool RequestSender::should_reconnect() {
    if (!retry_.may_reconnect(stream_->reused(), facts()))
        return false;
    retry_.reconnect();
    endpoint_.begin_attempt();
    ++endpoint_.counters().retries;
    return true;
}

bool RequestSender::should_retry(std::string_view why, bool was_sent) {
    using Verdict = RetryPolicy::Verdict;
    const SteadyTime now = net::read_steady_clock();
    upstream::RetryBudget& budget = endpoint_.cluster().retry_budget();
    const Verdict verdict = retry_.judge(request_.route().retry, facts(), budget, now);
    if (verdict == Verdict::over_budget)
        ++endpoint_.counters().retries_over_budget;
    if (verdict != Verdict::yes)
        return false;
    auto permission = was_sent ? cooldown_.ask_again(now) : limits::Cooldown::Pass{};
    if (!permission)
        return false;
    endpoint_.failed(why);
    if (!endpoint_.take_other(now, true))
        return false;
    cooldown_.adopt(*std::move(permission));
    budget.note_retry(now);
    retry_.begin_attempt();
    ++endpoint_.counters().retries;
    return true;
}

net::Task<> RequestSender::rewind() {
    request_.disarm();
    pump_.stop();
    co_await pump_.join();
    pump_.restart();
    stream_.reset();
}

void RequestSender::fail(int status, std::string why) {
    endpoint_.failed(why);
    request_.fail(status, std::move(why), observe::Outcome::upstream_failed);
}

void RequestSender::end(bool clean, SteadyTime now) noexcept {
    if (!stream_)
        return;
    if (clean && !request_.route().sends_proxy_protocol)
        stream_->keep(now);
    else
        stream_->abort();
}

} // namespace stint::proxy
