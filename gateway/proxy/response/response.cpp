// The upstream's answer on its way to the client.
#include "http/head_parser.hpp"
#include "net/clock.hpp"
#include "proxy/downstream/downstream.hpp"
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
        const auto head = context_.parser.parse_response(data.substr(0, head_size), method_);
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
    if (head.status != 100 && minor_ > 0 && pending_response_.empty()) {
        const std::optional<http::Shaping> shape = shaping(&routing::RouteShape::response);
        context_.head_out.clear();
        http::write_downstream_head(
            context_.head_out, head, {.chunked = false, .keep_alive = true}, request_id_, {},
            shape ? &*shape : nullptr);
        net::Gather gather;
        gather.add(context_.head_out.view());
        bytes_out_ += gather.bytes();
        if (net::write_now(downstream_.stream(), gather)) {
            abort(AbortReason::client_gone);
            return Answer::failed;
        }
        gather.append_to(pending_response_);
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
    const bool want_keep = client_keeps_ && !context_.draining && request_body_.done();
    framing_ = http::frame_response(minor_, head.framing, want_keep);
    framing_.trailers = trailers_.expected();
    keep_alive_ = framing_.keep_alive;
    upstream_keeps_ = head.keep_alive && head.framing.kind != BodyFraming::Kind::until_close &&
                      step->consumed == rest.size();
    const std::optional<http::Shaping> shape =
        route().shape == nullptr ? std::nullopt : shaping(&routing::RouteShape::response);
    context_.head_out.clear();
    http::write_downstream_head(
        context_.head_out, head, framing_, request_id_, context_.dates.format(wall_at(answered_)),
        shape ? &*shape : nullptr, settle(head));
    const http::ChunkHeader chunk{step->payload};
    return send_head(head, {rest.data(), step->payload}, chunk);
}

// Sends the final head, which is in head_out, and what there is of the body.
Exchange::Answer Exchange::send_head(
    const ResponseHead& head, std::string_view payload, const http::ChunkHeader& chunk) {
    status_ = head.status;
    head_sent_ = true;
    net::Gather gather;
    gather.add(pending_response_); // an interim response's bytes
    gather.add(context_.head_out.view());
    gather_response(gather, payload, chunk);
    bytes_out_ += gather.bytes() - pending_response_.size();
    if (net::write_now(downstream_.stream(), gather)) {
        abort(AbortReason::client_gone);
        return Answer::failed;
    }
    std::string left;
    gather.append_to(left);
    pending_response_ = std::move(left);
    return Answer::ready;
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

void Exchange::gather_response(
    net::Gather& gather, std::string_view payload, const http::ChunkHeader& chunk) {
    if (!payload.empty()) {
        gather.add(framing_.chunked ? chunk.view() : std::string_view{});
        gather.add(payload);
        gather.add(framing_.chunked ? http::chunk_end : std::string_view{});
    }
    if (framing_.chunked && response_body_.done())
        gather.add(trailers_.end_of_chunks(response_body_));
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

net::Task<bool> Exchange::send_unsent() {
    if (pending_response_.empty())
        co_return true;
    const std::string unsent = std::exchange(pending_response_, {});
    net::Gather gather;
    gather.add(unsent);
    bytes_out_ -= unsent.size(); // counted when it was gathered
    co_return co_await send_to_client(gather);
}

net::Task<bool> Exchange::relay_piece(std::size_t size) {
    const auto step = response_body_.decode(block_.span().first(size));
    if (!step) {
        abort(AbortReason::upstream_broken);
        co_return false;
    }
    upstream_keeps_ = upstream_keeps_ && step->consumed == size;
    const http::ChunkHeader chunk{step->payload};
    net::Gather gather;
    gather_response(gather, {block_.data(), step->payload}, chunk);
    if (gather.empty())
        co_return true;
    co_return co_await send_to_client(gather);
}

net::Task<bool> Exchange::send_to_client(net::Gather gather) {
    bytes_out_ += gather.bytes();
    ErrorCode error = net::write_now(downstream_.stream(), gather);
    while (!error && !gather.empty()) {
        arm(Waiting::client,
            has_route() ? route().timeouts.body_idle : snapshot().timeouts.body_idle);
        auto [failed] = co_await net::wait_writable(downstream_.stream());
        error = failed ? failed : net::write_now(downstream_.stream(), gather);
    }
    disarm();
    waiting_ = Waiting::upstream;
    if (error)
        abort(AbortReason::client_gone);
    co_return abort_reason_ == AbortReason::no;
}

} // namespace stint::proxy
