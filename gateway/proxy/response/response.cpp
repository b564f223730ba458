// The upstream's answer on its way to the client.
#include "http/head_parser.hpp"
#include "net/clock.hpp"
#include "net/deferred_read.hpp"
#include "proxy/exchange.hpp"

#include <cstring>
#include <utility>

namespace stint::proxy {
namespace {

// The most interim responses that are believed before the final one.
constexpr unsigned max_interims = 8;

} // namespace

std::span<char> Exchange::answer_room() {
    if (!block_)
        block_ = context_.body_blocks.borrow();
    return block_.span().subspan(filled_);
}

// Reads the answer's head without a coroutine: the usual request needs none.
void Exchange::begin_answer_read() {
    net::Stream& from = lease_.stream();
    const net::Input known = std::exchange(upstream_input_, net::Input::unknown);
    const auto done = [this](const ErrorCode& error, std::size_t size) {
        on_answer_read(error, size);
    };
    if (known == net::Input::none_yet && from.tls() == nullptr) [[likely]]
        net::read_deferred_then(from.socket(), answer_room(), read_memory_, done);
    else
        net::read_some_then(from, answer_room(), read_memory_, done);
}

// The stream may destroy this object when it goes on.
void Exchange::on_answer_read(const ErrorCode& error, std::size_t size) {
    Step next = Step::rest;
    try {
        next = take_answer(error, size);
        if (next == Step::pending)
            return begin_answer_read();
    } catch (const std::exception&) {
        failure_ = std::current_exception();
        next = Step::rest;
    }
    stream_.resume(next);
}

Exchange::Step Exchange::take_answer(const ErrorCode& error, std::size_t size) {
    answer_ = on_answer(error, size);
    if (answer_ == Answer::incomplete)
        return Step::pending;
    const bool all = answer_ == Answer::ready && response_body_.done() && !stream_.has_unsent() &&
                     upgrade_ == nullptr;
    return all && !body_pump_.running ? Step::done : Step::rest;
}

Exchange::Answer Exchange::on_answer(const ErrorCode& error, std::size_t size) {
    if (error || abort_reason_ != AbortReason::no)
        return on_upstream_failure(error);
    filled_ += size;
    for (;;) {
        const std::string_view data{block_.data(), filled_};
        const std::size_t head_size = http::find_head_end(data, scanned_);
        const std::size_t at_least = head_size > 0 ? head_size : filled_;
        if (at_least > snapshot().max_head || (head_size == 0 && filled_ == block_.size())) {
            fail(
                502, pool_->endpoint() + " sent a response head larger than max_head",
                observe::Outcome::upstream_failed);
            return Answer::failed;
        }
        if (head_size == 0)
            return Answer::incomplete;
        const auto head =
            context_.parser.parse_response(data.substr(0, head_size), stream_.head().method);
        if (!head) {
            fail(
                502,
                pool_->endpoint() + " sent a bad response: " + std::string{head.error().detail},
                observe::Outcome::upstream_failed);
            return Answer::failed;
        }
        if (head->status >= 200)
            return on_response_head(*head, head_size);
        if (head->status == 101 && upgrade_ != nullptr)
            return on_upgrade(*head, head_size);
        if (const Answer answer = on_interim(*head, head_size); answer != Answer::incomplete)
            return answer;
    }
}

Exchange::Answer Exchange::on_upstream_failure(const ErrorCode& error) {
    if (abort_reason_ != AbortReason::no)
        return Answer::failed;
    // A pooled connection is closed when it has been idle: no failure.
    attempts_.outcome_reported = attempts_.outcome_reported || lease_.reused();
    if (should_reconnect())
        return Answer::retry;
    std::string why = pool_->endpoint();
    if (error == net::asio::error::eof)
        why += " closed the connection before it answered";
    else
        why.append(" broke off before it answered: ").append(error.message());
    if (route().retry.on_reset && should_retry(why, true)) [[unlikely]]
        return Answer::retry;
    fail(502, std::move(why), observe::Outcome::upstream_failed);
    return Answer::failed;
}

// Relays an interim response. 100 is dropped (the client had its own from the gateway); others go
// to clients that know them. Afterwards block_ begins with the next head.
Exchange::Answer Exchange::on_interim(const ResponseHead& head, std::size_t head_size) {
    if (head.status == 101 || ++interims_ > max_interims) {
        fail(
            502,
            pool_->endpoint() + (head.status == 101
                                     ? " switched protocols, which nobody had asked for"
                                     : " sent too many interim responses"),
            observe::Outcome::upstream_failed);
        return Answer::failed;
    }
    const std::optional<http::Shaping> shape = shaping(&routing::RouteShape::response);
    const server::ForwardedResponse response{
        .head = head, .request_id = request_id_, .shaping = shape ? &*shape : nullptr};
    if (stream_.send_interim(response) == server::Sent::gone) {
        abort(AbortReason::client_gone);
        return Answer::failed;
    }
    drop_head(head_size);
    return Answer::incomplete;
}

void Exchange::drop_head(std::size_t head_size) noexcept {
    filled_ -= head_size;
    std::memmove(block_.data(), block_.data() + head_size, filled_);
    scanned_ = 0;
}

// Notes that the answer's final head has come.
void Exchange::note_answer(const ResponseHead& head) {
    disarm();
    answered_ = net::read_steady_clock();
    if (pass_)
        heed_answer(head);
    upstream_time_ = answered_ - sent_;
    upstream_counters().latency.observe(upstream_time_);
    endpoint_answered(head.status);
}

Exchange::Answer Exchange::on_response_head(const ResponseHead& head, std::size_t head_size) {
    note_answer(head);
    if (head.status >= 500 && route().retry.on_status(head.status) && should_retry({}, true))
        [[unlikely]]
        return Answer::retry;
    const std::span<char> rest{block_.data() + head_size, filled_ - head_size};
    response_body_ = http::BodyDecoder{head.framing};
    if (takes_trailers_ && head.framing.kind == BodyFraming::Kind::chunked) [[unlikely]]
        trailers_.expect(head, response_body_);
    const auto step = response_body_.decode(rest);
    if (!step) {
        fail(
            502, pool_->endpoint() + " sent a bad response: " + std::string{step.error().detail},
            observe::Outcome::upstream_failed);
        return Answer::failed;
    }
    upstream_keeps_ = head.keep_alive && head.framing.kind != BodyFraming::Kind::until_close &&
                      step->consumed == rest.size();
    const std::optional<http::Shaping> shape =
        route().shape == nullptr ? std::nullopt : shaping(&routing::RouteShape::response);
    return send_head(
        {.head = head,
         .request_id = request_id_,
         .date = context_.dates.format(wall_at(answered_)),
         .shaping = shape ? &*shape : nullptr,
         .policies = settle(head),
         .trailers = trailers_.expected()},
        piece_of({rest.data(), step->payload}));
}

// Sends the final head, and what there is of the body.
Exchange::Answer
Exchange::send_head(const server::ForwardedResponse& response, const server::ResponsePiece& piece) {
    status_ = response.head.status;
    if (stream_.send_response(response, piece) == server::Sent::gone) {
        abort(AbortReason::client_gone);
        return Answer::failed;
    }
    return Answer::ready;
}

// Returns the piece of the body that the last step of the decoder has brought.
server::ResponsePiece Exchange::piece_of(std::string_view payload) {
    server::ResponsePiece piece{.payload = payload, .last = response_body_.done()};
    if (piece.last && trailers_.expected()) [[unlikely]] {
        piece.trailer = response_body_.trailer();
        piece.nominated = trailers_.nominated();
    }
    return piece;
}

// Settles the charges by what the response says. Returns the rate-limit fields to tell the client.
http::PolicyFields Exchange::settle(const ResponseHead& head) {
    if (admission::Settlement& settlement = admission_.settlement(); !settlement.empty())
        [[unlikely]]
        settlement.settle(head, admission_.permit(), callbacks_, {answered_, begun_.wall});
    if (admission_.headers().empty()) [[likely]]
        return {};
    return admission_.headers().fields(route().telling, {answered_, wall_at(answered_)});
}

// Relays one block at a time: a slow client makes the upstream wait, not the gateway grow.
net::Task<> Exchange::stream_response() {
    bool sent = co_await send_unsent();
    if (!sent)
        co_return;
    answered_ = {};
    if (!response_body_.done())
        net::acknowledge_at_once(lease_.stream());
    if (splices())
        co_await splice_response();
    while (!response_body_.done() && abort_reason_ == AbortReason::no) {
        arm(Waiting::upstream, route().timeouts.body_idle);
        auto [error, size] = co_await net::read_some(lease_.stream(), block_.span(), read_memory_);
        if (abort_reason_ != AbortReason::no)
            co_return;
        // A body that is delimited by close ends with the stream; any other was cut short.
        if (error && !(error == net::asio::error::eof && response_body_.end_of_stream()))
            co_return abort(AbortReason::upstream_broken);
        sent = co_await relay_piece(size);
        if (!sent)
            co_return;
    }
}

// Waits until the client has taken all that waits for it, for body_idle at most between two pieces.
net::Task<bool> Exchange::send_unsent() {
    if (!stream_.has_unsent())
        co_return true;
    server::Sent sent = server::Sent::part;
    while (sent == server::Sent::part && abort_reason_ == AbortReason::no) {
        arm(Waiting::client,
            has_route() ? route().timeouts.body_idle : snapshot().timeouts.body_idle);
        sent = co_await stream_.flush();
    }
    disarm();
    waiting_ = Waiting::upstream;
    if (sent == server::Sent::gone)
        abort(AbortReason::client_gone);
    co_return sent == server::Sent::all&& abort_reason_ == AbortReason::no;
}

net::Task<bool> Exchange::relay_piece(std::size_t size) {
    const auto step = response_body_.decode(block_.span().first(size));
    if (!step) {
        abort(AbortReason::upstream_broken);
        co_return false;
    }
    upstream_keeps_ = upstream_keeps_ && step->consumed == size;
    const server::ResponsePiece piece = piece_of({block_.data(), step->payload});
    co_return co_await send_to_client(piece);
}

net::Task<bool> Exchange::send_to_client(const server::ResponsePiece& piece) {
    const server::Sent sent = stream_.send_body(piece);
    if (sent == server::Sent::part)
        co_return co_await send_unsent();
    disarm();
    waiting_ = Waiting::upstream;
    if (sent == server::Sent::gone)
        abort(AbortReason::client_gone);
    co_return abort_reason_ == AbortReason::no;
}

} // namespace stint::proxy
