// A request's body that is still coming, on its way to the upstream.
#include "net/clock.hpp"
#include "net/stream.hpp"
#include "proxy/downstream/downstream.hpp"
#include "proxy/exchange.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

namespace stint::proxy {

// Reads what has come of the body since its head was read, to go out with it. A body of 64 KiB,
// which the client sends in one piece, needs no pump then: two thirds of the CPU time. Only where
// the length is known: other bodies are read no further than there is room for the next request.
std::string_view Exchange::read_ahead(net::Block& block) {
    if (request_framing_ != BodyFraming::Kind::length || expects_continue_)
        return {};
    block = context_.body_blocks.borrow();
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, block.size()));
    const net::Received got = net::read_now(downstream_.stream(), block.span().first(size));
    const auto step = request_body_.decode(block.span().first(got.size));
    if (got.error || !step)
        return {}; // the pump meets it again
    body_pump_.begun = true;
    bytes_in_ += step->payload;
    body_left_ -= step->payload;
    return {block.data(), step->payload};
}

// Starts the pump, which sends the rest of the first write, then the rest of the body as it comes.
void Exchange::begin_pump() {
    if (pending_request_.empty() && !begin_body())
        return;
    body_pump_.running = true;
    try {
        net::spawn(context_.executor, pump(*this));
    } catch (...) {
        body_pump_.running = false; // no pump runs that would reset it
        throw;
    }
}

// Begins to read the body as it is sent: it cannot be sent again. False: the client is gone.
bool Exchange::begin_body() {
    if (expects_continue_ && buffered_body_.empty() && !head_sent_) {
        net::Gather gather;
        gather.add(pending_response_); // an interim response's bytes
        gather.add("HTTP/1.1 100 Continue\r\n\r\n");
        bytes_out_ += gather.bytes() - pending_response_.size();
        if (net::write_now(downstream_.stream(), gather)) {
            abort(AbortReason::client_gone);
            return false;
        }
        std::string left;
        gather.append_to(left);
        pending_response_ = std::move(left);
    }
    forget_buffered_body();
    body_pump_.begun = true;
    return true;
}

// Frees the room behind the head. The body's bytes there are not needed again; without room a
// chunked body would be read a byte at a time.
void Exchange::forget_buffered_body() noexcept {
    downstream_.drop_behind(head_.size());
    consumed_ = head_.size();
    buffered_body_ = {};
}

// Runs beside the wait for the answer, which may come before the body's end.
net::Task<> Exchange::pump(Exchange& self) {
    try {
        bool more = true;
        if (!self.pending_request_.empty())
            more = co_await self.send_pending();
        if (more && self.expects_continue_ && !self.request_body_.done())
            more = co_await self.send_interim();
        net::Block block;
        if (more && !self.request_body_.done())
            block = self.context_.body_blocks.borrow();
        std::string_view payload;
        SendingRate rate;
        while (more && !self.request_body_.done()) {
            rate.wait(net::read_coarse_clock());
            more = co_await self.read_body(block, self.route().timeouts.body_idle, payload);
            rate.arrive(net::read_coarse_clock(), payload.size());
            more = more && self.keeps_up(rate);
            if (more)
                more = co_await self.forward_body(payload);
        }
        self.request_sent_ = more;
    } catch (const std::exception& failure) {
        if (self.context_.shared.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a request's body could not be relayed: {}", failure.what());
        self.abort(AbortReason::client_stalled);
    }
    self.end_pump();
}

// Sends what the client's socket has not taken of interim responses: a client that waits for its
// 100 sends no body before. The response's head takes these bytes along where it comes meanwhile.
net::Task<bool> Exchange::send_interim() {
    ErrorCode error;
    if (!pending_response_.empty())
        downstream_.watch_from_afar();
    while (!error && !body_pump_.stopping && !head_sent_ && !pending_response_.empty()) {
        body_pump_.reads = true;
        downstream_.arm_body_deadline(route().timeouts.body_idle);
        auto [failed] = co_await net::wait_writable(downstream_.stream());
        downstream_.disarm_body_deadline();
        body_pump_.reads = false;
        error = failed;
        if (error || head_sent_)
            break;
        net::Gather gather;
        gather.add(pending_response_);
        error = net::write_now(downstream_.stream(), gather);
        std::string left;
        gather.append_to(left);
        pending_response_ = std::move(left);
    }
    if (error && !body_pump_.stopping)
        abort(AbortReason::client_gone);
    co_return !error && !body_pump_.stopping && abort_reason_ == AbortReason::no;
}

// Aborts if the client is below min_rate, which counts as stalled.
bool Exchange::keeps_up(const SendingRate& rate) {
    // An answer that came before the body's end is still relayed, as in on_client_stalled().
    if (request_body_.done() || head_sent_ || !rate.below(snapshot().min_body_rate))
        return true;
    ++context_.counters.slow_bodies;
    abort(AbortReason::client_stalled);
    return false;
}

// Reads no further than this body, or than there is room for the next request's beginning.
net::Task<bool> Exchange::read_body(net::Block& block, Duration pause, std::string_view& payload) {
    if (downstream_.input_ended()) {
        abort(AbortReason::client_gone);
        co_return false;
    }
    const std::uint64_t most = request_framing_ == BodyFraming::Kind::length
                                   ? body_left_
                                   : std::uint64_t{downstream_.room()} + 1;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, block.size()));
    downstream_.watch_no_more();
    downstream_.arm_body_deadline(pause);
    body_pump_.reads = true;
    auto [error, got] = co_await downstream_.read_some(block.span().first(size));
    body_pump_.reads = false;
    downstream_.disarm_body_deadline();
    if (error) {
        if (!body_pump_.stopping)
            abort(AbortReason::client_gone);
        co_return false;
    }
    const auto step = request_body_.decode(block.span().first(got));
    if (!step) {
        admission_.reply().explain(std::string{step.error().detail});
        abort(AbortReason::bad_body);
        co_return false;
    }
    payload = {block.data(), step->payload};
    downstream_.keep_surplus(block.span().first(got).subspan(step->consumed));
    bytes_in_ += step->payload;
    body_left_ -= std::min<std::uint64_t>(body_left_, step->payload);
    if (!body_pump_.stopping && bytes_in_ > route().max_body) [[unlikely]] {
        abort(AbortReason::body_too_long); // a part of the body that the upstream never sees
        co_return false;
    }
    co_return true;
}

net::Task<bool> Exchange::forward_body(std::string_view payload) {
    const bool chunked = request_framing_ == BodyFraming::Kind::chunked;
    const http::ChunkHeader chunk{payload.size()};
    net::Gather gather;
    if (!payload.empty()) {
        gather.add(chunked ? chunk.view() : std::string_view{});
        gather.add(payload);
        gather.add(chunked ? http::chunk_end : std::string_view{});
    }
    if (chunked && request_body_.done())
        gather.add(http::last_chunk);
    ErrorCode error = net::write_now(lease_.stream(), gather);
    if (!error && !gather.empty())
        downstream_.watch_from_afar();
    while (!error && !gather.empty()) {
        error = co_await wait_for_upstream();
        if (!error)
            error = net::write_now(lease_.stream(), gather);
    }
    // An upstream that closes early may have answered before: the read of that answer decides.
    co_return !error && !body_pump_.stopping && abort_reason_ == AbortReason::no;
}

// Waits until the upstream's socket takes more, for body_idle at most.
net::Task<ErrorCode> Exchange::wait_for_upstream() {
    body_pump_.writes = true;
    downstream_.arm_body_deadline(route().timeouts.body_idle);
    auto [error] = co_await net::wait_writable(lease_.stream());
    downstream_.disarm_body_deadline();
    body_pump_.writes = false;
    co_return error;
}

// Sends what the first write has left. False: it cannot be sent, or must not be. Notes after each
// write how much was taken: the read of the answer may meet the connection's end first, and the
// first write may have left all (of TLS, where the socket had room for a part of a record).
net::Task<bool> Exchange::send_pending() {
    ErrorCode error;
    while (!error && !pending_request_.rest().empty()) {
        error = co_await wait_for_upstream();
        if (error)
            break;
        net::Gather gather;
        gather.add(pending_request_.rest());
        const std::size_t before = gather.bytes();
        error = net::write_now(lease_.stream(), gather);
        pending_request_.take(before - gather.bytes());
    }
    if (error || body_pump_.stopping || abort_reason_ != AbortReason::no)
        co_return false;
    pending_request_.clear();
    co_return request_body_.done() || begin_body();
}

void Exchange::end_pump() {
    body_pump_.running = false;
    if (abort_reason_ == AbortReason::no) {
        // Also where the rest could not be sent: the wait for the answer that decides must end.
        if (!head_sent_ && !body_pump_.stopping)
            arm(Waiting::response, route().timeouts.response);
        if (request_body_.done())
            downstream_.watch();
        else
            downstream_.watch_from_afar(); // nothing reads the rest
    }
    body_pump_.stopped.signal();
}

void Exchange::stop_pump() noexcept {
    if (!body_pump_.running)
        return;
    body_pump_.stopping = true;
    lease_.abort();
    if (body_pump_.reads)
        net::cancel(downstream_.stream());
}

} // namespace stint::proxy
