#include "proxy/response/response_relay.hpp"

#include "net/clock.hpp"
#include "proxy/forward/shaping.hpp"
#include "proxy/response/splice_relay.hpp"

#include <optional>
#include <string>
#include <utility>

namespace stint::proxy {
namespace {

// Largest number of interim responses accepted before the final one.
constexpr unsigned max_interims = 8;

server::ResponsePiece piece_of(const upstream::BodyRead& read) noexcept {
    return {read.payload, read.last, read.trailer, read.nominated};
}

} // namespace

Answer ResponseRelay::take(const ErrorCode& error) {
    using Head = upstream::UpstreamStream::Head;
    if (error || request_.is_aborted())
        return on_failure(error);
    upstream::UpstreamStream& from = sender_.stream();
    for (;;) {
        const Head found = from.next_head();
        if (found == Head::incomplete)
            return Answer::incomplete;
        if (found == Head::malformed)
            return fail("sent " + from.fault());
        const ResponseHead& head = from.head();
        if (head.status >= 200)
            return on_final(head);
        if (head.status == 101 && upgrade_ != nullptr)
            return on_upgrade(head);
        if (!on_interim(head))
            return Answer::failed;
    }
}

Answer ResponseRelay::fail(std::string_view what) {
    sender_.fail(502, endpoint_.name() + " " + std::string{what});
    return Answer::failed;
}

Answer ResponseRelay::on_failure(const ErrorCode& error) {
    if (request_.is_aborted())
        return Answer::failed;
    if (sender_.stream().reused()) // servers close idle connections: the endpoint has not failed
        endpoint_.ignore_attempt();
    if (sender_.should_reconnect())
        return Answer::retry;
    std::string why = endpoint_.name();
    if (error == net::asio::error::eof)
        why += " closed the connection before it answered";
    else
        why.append(" broke off before it answered: ").append(error.message());
    if (request_.route().retry.on_reset && sender_.should_retry(why, true)) [[unlikely]]
        return Answer::retry;
    sender_.fail(502, std::move(why));
    return Answer::failed;
}

// Relays an interim response to a client that understands it. 100 (Continue) is dropped, because
// the gateway sends its own. Returns false if the request has failed.
bool ResponseRelay::on_interim(const ResponseHead& head) {
    if (head.status == 101 || ++interims_ > max_interims) {
        fail(
            head.status == 101 ? "switched protocols, which nobody had asked for"
                               : "sent too many interim responses");
        return false;
    }
    const std::optional<http::Shaping> shape = shaping(request_, &routing::RouteShape::response);
    const server::ForwardedResponse response{
        .head = head, .request_id = request_.record().id(), .shaping = shape ? &*shape : nullptr};
    if (request_.stream().send_interim(response) != server::Sent::gone)
        return true;
    request_.abort(AbortReason::client_gone);
    return false;
}

// Notes that the final head has come.
void ResponseRelay::note(const ResponseHead& head) {
    request_.disarm();
    answered_ = net::read_steady_clock();
    cooldown_.heed(head, answered_);
    const Duration upstream_time = answered_ - sender_.sent_at();
    request_.record().set_upstream_time(upstream_time);
    endpoint_.counters().latency.observe(upstream_time);
    endpoint_.answered(head.status, answered_);
}

Answer ResponseRelay::on_final(const ResponseHead& head) {
    const routing::Route& route = request_.route();
    if (request_.head().extended_connect && head.status < 300) [[unlikely]]
        return fail("did not switch protocols"); // the client would take a 200 for a switch
    note(head);
    if (head.status >= 500 && route.retry.on_status(head.status) && sender_.should_retry({}, true))
        [[unlikely]]
        return Answer::retry;
    upstream::UpstreamStream& from = sender_.stream();
    const upstream::BodyRead read = from.first_piece();
    if (read.status != upstream::BodyRead::Status::arrived)
        return fail("sent " + from.fault());
    const std::optional<http::Shaping> shape =
        route.shape == nullptr ? std::nullopt : shaping(request_, &routing::RouteShape::response);
    return send_head(
        {.head = head,
         .request_id = request_.record().id(),
         .date = request_.context().dates.format(request_.record().wall_at(answered_)),
         .shaping = shape ? &*shape : nullptr,
         .policies = settle(head),
         .trailers = from.expects_trailers()},
        piece_of(read));
}

// Relays a 101 and switches protocols.
Answer ResponseRelay::on_upgrade(const ResponseHead& head) {
    const std::string protocols = upgrade_->chosen_by(head);
    if (protocols.empty())
        return fail("switched to a protocol that was not offered");
    if (!sender_.stream().request_done())
        return fail("switched protocols before it had the whole request");
    note(head);
    const std::optional<http::Shaping> shape = shaping(request_, &routing::RouteShape::response);
    // Release the slot before the 101 is sent: the client then finds it free for its next
    // connection.
    request_.admission().permit().release_early({answered_, request_.record().wall_at(answered_)});
    const Answer answer = send_head(
        {.head = head,
         .request_id = request_.record().id(),
         .shaping = shape ? &*shape : nullptr,
         .policies = settle(head),
         .protocols = protocols},
        {});
    if (answer == Answer::ready)
        upgrade_->set_switched();
    return answer;
}

// Sends the final head and the first piece of the body.
Answer ResponseRelay::send_head(
    const server::ForwardedResponse& response, const server::ResponsePiece& piece) {
    request_.record().end_as(response.head.status, request_.record().outcome());
    if (request_.stream().send_response(response, piece) == server::Sent::gone) {
        request_.abort(AbortReason::client_gone);
        return Answer::failed;
    }
    return Answer::ready;
}

// Settles the charges that depend on the response. Returns the rate-limit fields to send to the
// client.
http::PolicyFields ResponseRelay::settle(const ResponseHead& head) {
    admission::RequestAdmission& admission = request_.admission();
    if (admission::Settlement& settlement = admission.settlement(); !settlement.empty())
        [[unlikely]]
        settlement.settle(
            head, admission.permit(), request_.callbacks(),
            {answered_, request_.record().arrived().wall});
    if (admission.headers().empty()) [[likely]]
        return {};
    return admission.headers().fields(
        request_.route().telling, {answered_, request_.record().wall_at(answered_)});
}

net::Task<> ResponseRelay::relay_body() {
    const bool ready = co_await send_unsent();
    if (!ready)
        co_return;
    upstream::UpstreamStream& from = sender_.stream();
    if (SpliceRelay::is_worth_it(request_, from)) {
        SpliceRelay splice{request_, from, *this};
        co_await splice.run();
    }
    while (!from.response_done() && !request_.is_aborted()) {
        request_.arm(Waiting::upstream, request_.route().timeouts.body_idle);
        const upstream::BodyRead read = co_await from.read_body();
        if (request_.is_aborted())
            co_return;
        if (read.status != upstream::BodyRead::Status::arrived)
            co_return request_.abort(AbortReason::upstream_broken);
        const bool sent = co_await send(piece_of(read));
        if (!sent)
            co_return;
    }
}

net::Task<bool> ResponseRelay::send(const server::ResponsePiece& piece) {
    const server::Sent sent = request_.stream().send_body(piece);
    if (sent == server::Sent::part)
        co_return co_await send_unsent();
    request_.await_upstream();
    if (sent == server::Sent::gone)
        request_.abort(AbortReason::client_gone);
    co_return !request_.is_aborted();
}

net::Task<bool> ResponseRelay::send_unsent() {
    if (!request_.stream().has_unsent())
        co_return true;
    server::Sent sent = server::Sent::part;
    while (sent == server::Sent::part && !request_.is_aborted()) {
        request_.arm(
            Waiting::client, request_.has_route() ? request_.route().timeouts.body_idle
                                                  : request_.snapshot().timeouts.body_idle);
        sent = co_await request_.stream().flush();
    }
    request_.await_upstream();
    if (sent == server::Sent::gone)
        request_.abort(AbortReason::client_gone);
    co_return sent == server::Sent::all && !request_.is_aborted();
}

void ResponseRelay::restart() noexcept {
    interims_ = 0;
    answered_ = {};
    request_.record().set_upstream_time({});
}

} // namespace stint::proxy
