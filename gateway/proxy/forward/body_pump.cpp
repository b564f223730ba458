#include "proxy/forward/body_pump.hpp"

#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace stint::proxy {

std::string_view BodyPump::read_ahead(net::Block& block) {
    const std::string_view ahead = request_.stream().read_ahead(block);
    begun_ = begun_ || !ahead.empty();
    return ahead;
}

void BodyPump::first_piece_was_sent(std::size_t ahead) noexcept {
    if (!held_.empty()) [[unlikely]]
        held_ = {};
    const std::size_t size = request_.stream().buffered_body().size() + ahead;
    if (size > 0 && !std::exchange(credited_, true))
        request_.stream().consumed(size);
}

void BodyPump::begin(upstream::UpstreamStream& to) {
    to_ = &to;
    if (!to.has_unsent() && !begin_body())
        return;
    running_ = true;
    try {
        net::spawn(request_.context().executor, run(*this));
    } catch (...) {
        running_ = false; // no coroutine runs that would reset it
        throw;
    }
}

// Lets the client send its body, which from then on is read and sent on as it comes: the request
// cannot be sent again. Returns false if the client has gone.
bool BodyPump::begin_body() {
    if (request_.stream().allow_body() == server::Sent::gone) {
        request_.abort(AbortReason::client_gone);
        return false;
    }
    request_.stream().drop_buffered_body();
    begun_ = true;
    return true;
}

net::Task<> BodyPump::run(BodyPump& self) {
    try {
        co_await self.send_all();
    } catch (const std::exception& failure) {
        if (self.request_.context().shared().failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a request's body could not be relayed: {}", failure.what());
        self.request_.abort(AbortReason::client_stalled);
    }
    self.end();
}

net::Task<> BodyPump::send_all() {
    server::ClientStream& from = request_.stream();
    bool more = true;
    if (to_->has_unsent())
        more = co_await send_first();
    if (more && from.head().expects_continue && !from.body_done())
        more = co_await send_interim();
    net::Block block;
    if (more && !from.body_done())
        block = request_.context().body_blocks.borrow();
    server::BodyPiece piece;
    SendingRate rate;
    while (more && !from.body_done()) {
        rate.wait(net::read_coarse_clock());
        more = co_await read(block, piece);
        rate.arrive(net::read_coarse_clock(), piece.payload.size());
        more = more && keeps_up(rate);
        if (more)
            more = co_await forward(piece);
    }
}

// Sends the bytes that the first write has left over. Returns false if the upstream does not take
// them, or if the pump has to stop.
net::Task<bool> BodyPump::send_first() {
    ErrorCode error;
    while (!error && to_->has_unsent())
        error = co_await flush();
    if (error || !goes_on())
        co_return false;
    first_piece_was_sent(held_.size());
    co_return request_.stream().body_done() || begin_body();
}

// Sends the rest of interim responses to the client: a client that waits for its 100 (Continue)
// sends no body before. If the final head is sent meanwhile, it takes these bytes along.
net::Task<bool> BodyPump::send_interim() {
    server::ClientStream& client = request_.stream();
    server::Sent sent = server::Sent::part;
    if (client.has_unsent())
        client.watch_unread();
    while (sent == server::Sent::part && !stopping_ && !client.head_sent() && client.has_unsent()) {
        reads_ = true;
        arm();
        sent = co_await client.flush();
        disarm();
        reads_ = false;
    }
    if (sent == server::Sent::gone && !stopping_)
        request_.abort(AbortReason::client_gone);
    co_return sent != server::Sent::gone&& goes_on();
}

// Aborts the request if the client sends more slowly than min_body_rate, as if it had stalled.
bool BodyPump::keeps_up(const SendingRate& rate) {
    const server::ClientStream& client = request_.stream();
    // A response that came before the body's end is still relayed, as in on_deadline().
    if (client.body_done() || client.head_sent() || !rate.below(request_.snapshot().min_body_rate))
        return true;
    ++request_.context().counters.slow_bodies;
    request_.abort(AbortReason::client_stalled);
    return false;
}

net::Task<bool> BodyPump::read(net::Block& block, server::BodyPiece& piece) {
    using Status = server::BodyPiece::Status;
    arm();
    reads_ = true;
    piece = co_await request_.stream().read_body(block);
    reads_ = false;
    disarm();
    if (piece.status == Status::gone) {
        if (!stopping_)
            request_.abort(AbortReason::client_gone);
        co_return false;
    }
    if (piece.status == Status::malformed) {
        request_.admission().reply().explain(std::string{piece.detail});
        request_.abort(AbortReason::bad_body);
        co_return false;
    }
    if (!stopping_ && request_.stream().bytes_in() > request_.route().max_body) [[unlikely]] {
        request_.abort(AbortReason::body_too_long); // the upstream never gets this piece
        co_return false;
    }
    co_return true;
}

net::Task<bool> BodyPump::forward(const server::BodyPiece& piece) {
    server::ClientStream& from = request_.stream();
    ErrorCode error = to_->send_body(
        {.payload = piece.payload,
         .last = from.body_done(),
         .trailer = piece.trailer,
         .nominated = piece.nominated});
    if (!error && to_->has_unsent())
        from.watch_unread();
    while (!error && to_->has_unsent())
        error = co_await flush();
    if (!error)
        from.consumed(piece.payload.size());
    // On an error, only the pump stops: an upstream that closes early may have answered before. The
    // read of its response decides.
    co_return !error && goes_on();
}

// Waits until the upstream takes more, for body_idle at most.
net::Task<ErrorCode> BodyPump::flush() {
    writes_ = true;
    arm();
    const ErrorCode error = co_await to_->flush();
    disarm();
    writes_ = false;
    co_return error;
}

void BodyPump::arm() {
    Context& context = request_.context();
    context.deadlines.arm(*this, request_.route().timeouts.body_idle, net::read_coarse_clock());
}

// Aborts the request if for body_idle its client has sent, or its upstream has taken, no more of
// the body. A response that came before the body's end is still relayed; the pump ends with it.
void BodyPump::on_deadline() noexcept {
    if (request_.stream().head_sent() && running_)
        return arm();
    request_.abort(writes_ ? AbortReason::upstream_stalled : AbortReason::client_stalled);
}

void BodyPump::end() {
    running_ = false;
    server::ClientStream& client = request_.stream();
    if (!request_.is_aborted()) {
        // Even if the rest of the body could not be sent, the wait for the response has to end.
        if (!client.head_sent() && !stopping_)
            request_.arm(Waiting::response, request_.route().timeouts.response);
        client.watch(); // the pump no longer reads from the client
    }
    stopped_.signal();
}

void BodyPump::stop() noexcept {
    if (!running_)
        return;
    stopping_ = true;
    to_->abort();
    if (reads_)
        request_.stream().cancel();
}

net::Task<> BodyPump::join() {
    while (running_)
        co_await stopped_.wait();
}

} // namespace stint::proxy
