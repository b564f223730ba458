// A request's body that is still coming, on its way to the upstream.
#include "net/clock.hpp"
#include "net/stream.hpp"
#include "proxy/exchange.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

namespace stint::proxy {

// Reads what has come of the body since its head was read, to go out with it. A body of 64 KiB,
// which the client sends in one piece, needs no pump then: two thirds of the CPU time.
std::string_view Exchange::read_ahead(net::Block& block) {
    const std::string_view ahead = stream_.read_ahead(block);
    body_pump_.begun = body_pump_.begun || !ahead.empty();
    return ahead;
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
    if (stream_.allow_body() == server::Sent::gone) {
        abort(AbortReason::client_gone);
        return false;
    }
    stream_.drop_buffered_body();
    body_pump_.begun = true;
    return true;
}

// Runs beside the wait for the answer, which may come before the body's end.
net::Task<> Exchange::pump(Exchange& self) {
    try {
        bool more = true;
        if (!self.pending_request_.empty())
            more = co_await self.send_pending();
        if (more && self.stream_.head().expects_continue && !self.stream_.body_done())
            more = co_await self.send_interim();
        net::Block block;
        if (more && !self.stream_.body_done())
            block = self.context_.body_blocks.borrow();
        std::string_view payload;
        SendingRate rate;
        while (more && !self.stream_.body_done()) {
            rate.wait(net::read_coarse_clock());
            more = co_await self.read_body(block, payload);
            rate.arrive(net::read_coarse_clock(), payload.size());
            more = more && self.keeps_up(rate);
            if (more)
                more = co_await self.forward_body(payload);
        }
        self.request_sent_ = more;
    } catch (const std::exception& failure) {
        if (self.context_.shared().failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a request's body could not be relayed: {}", failure.what());
        self.abort(AbortReason::client_stalled);
    }
    self.end_pump();
}

// Sends what the client's socket has not taken of interim responses: a client that waits for its
// 100 sends no body before. The response's head takes these bytes along where it comes meanwhile.
net::Task<bool> Exchange::send_interim() {
    server::Sent sent = server::Sent::part;
    if (stream_.has_unsent())
        stream_.watch_unread();
    while (sent == server::Sent::part && !body_pump_.stopping && !stream_.head_sent() &&
           stream_.has_unsent()) {
        body_pump_.reads = true;
        arm_body_deadline();
        sent = co_await stream_.flush();
        body_deadline_.disarm();
        body_pump_.reads = false;
    }
    if (sent == server::Sent::gone && !body_pump_.stopping)
        abort(AbortReason::client_gone);
    co_return sent != server::Sent::gone && !body_pump_.stopping &&
        abort_reason_ == AbortReason::no;
}

// Aborts if the client is below min_rate, which counts as stalled.
bool Exchange::keeps_up(const SendingRate& rate) {
    // An answer that came before the body's end is still relayed, as in on_client_stalled().
    if (stream_.body_done() || stream_.head_sent() || !rate.below(snapshot().min_body_rate))
        return true;
    ++context_.counters.slow_bodies;
    abort(AbortReason::client_stalled);
    return false;
}

net::Task<bool> Exchange::read_body(net::Block& block, std::string_view& payload) {
    using Status = server::BodyPiece::Status;
    arm_body_deadline();
    body_pump_.reads = true;
    const server::BodyPiece piece = co_await stream_.read_body(block);
    body_pump_.reads = false;
    body_deadline_.disarm();
    if (piece.status == Status::gone) {
        if (!body_pump_.stopping)
            abort(AbortReason::client_gone);
        co_return false;
    }
    if (piece.status == Status::malformed) {
        admission_.reply().explain(std::string{piece.detail});
        abort(AbortReason::bad_body);
        co_return false;
    }
    payload = piece.payload;
    if (!body_pump_.stopping && stream_.bytes_in() > route().max_body) [[unlikely]] {
        abort(AbortReason::body_too_long); // a part of the body that the upstream never sees
        co_return false;
    }
    co_return true;
}

net::Task<bool> Exchange::forward_body(std::string_view payload) {
    const bool chunked = stream_.head().framing.kind == BodyFraming::Kind::chunked;
    const http::ChunkHeader chunk{payload.size()};
    net::Gather gather;
    if (!payload.empty()) {
        gather.add(chunked ? chunk.view() : std::string_view{});
        gather.add(payload);
        gather.add(chunked ? http::chunk_end : std::string_view{});
    }
    if (chunked && stream_.body_done())
        gather.add(http::last_chunk);
    ErrorCode error = net::write_now(lease_.stream(), gather);
    if (!error && !gather.empty())
        stream_.watch_unread();
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
    arm_body_deadline();
    auto [error] = co_await net::wait_writable(lease_.stream());
    body_deadline_.disarm();
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
    co_return stream_.body_done() || begin_body();
}

void Exchange::arm_body_deadline() {
    context_.deadlines.arm(body_deadline_, route().timeouts.body_idle, net::read_coarse_clock());
}

// Handles a client that has sent no more of the body, or an upstream that has taken no more of it,
// for too long. An answer that came before the body's end is still relayed; the pump ends with it.
void Exchange::on_body_stalled() noexcept {
    if (stream_.head_sent() && body_pump_.running)
        return arm_body_deadline();
    abort(body_pump_.writes ? AbortReason::upstream_stalled : AbortReason::client_stalled);
}

void Exchange::end_pump() {
    body_pump_.running = false;
    if (abort_reason_ == AbortReason::no) {
        // Also where the rest could not be sent: the wait for the answer that decides must end.
        if (!stream_.head_sent() && !body_pump_.stopping)
            arm(Waiting::response, route().timeouts.response);
        stream_.watch(); // nothing reads the rest of a body
    }
    body_pump_.stopped.signal();
}

void Exchange::stop_pump() noexcept {
    if (!body_pump_.running)
        return;
    body_pump_.stopping = true;
    lease_.abort();
    if (body_pump_.reads)
        stream_.cancel();
}

} // namespace stint::proxy
