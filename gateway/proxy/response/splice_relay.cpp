#include "proxy/response/splice_relay.hpp"

#include "proxy/response/response_relay.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace stint::proxy {
namespace {

// Fewest remaining bytes of a body that are spliced. A copy of less is as fast and needs no pipe.
constexpr std::uint64_t worth_a_pipe = 256 * 1024;

} // namespace

bool SpliceRelay::is_worth_it(const Request& request, upstream::UpstreamStream& from) noexcept {
    return from.raw_left() >= worth_a_pipe && from.raw_body() != nullptr &&
           request.stream().raw_body() != nullptr;
}

net::Task<> SpliceRelay::run() {
    stint::Result<net::SplicePipe> pipe = request_.context().splice_pipes.take();
    if (!pipe)
        co_return;
    from_.pass_raw(0); // lets the stream give its read buffer back
    bool more = true;
    while (more && !from_.response_done())
        more = co_await move_piece(*pipe);
    request_.context().splice_pipes.keep(std::move(*pipe));
}

// Splices one piece. The pipe is empty before, and also afterwards unless a step has failed: so
// would_block from fill() means that the upstream is silent. Always waits first, so that other
// connections have their turn. Returns false if no more is to be spliced.
net::Task<bool> SpliceRelay::move_piece(net::SplicePipe& pipe) {
    request_.arm(Waiting::upstream, request_.route().timeouts.body_idle);
    auto [failed] = co_await net::wait_readable(in_);
    if (request_.is_aborted())
        co_return false;
    const std::size_t at_most = std::min<std::uint64_t>(from_.raw_left(), pipe.capacity);
    const net::Received got = failed ? net::Received{failed} : pipe.fill(in_.socket(), at_most);
    if (got.error == net::asio::error::would_block)
        co_return true;
    if (got.error == net::asio::error::operation_not_supported) {
        request_.context().splice_pipes.give_up();
        co_return false;
    }
    if (got.error) {
        if (!(got.error == net::asio::error::eof && from_.end_raw()))
            request_.abort(AbortReason::upstream_broken);
        co_return false;
    }
    from_.pass_raw(got.size);
    co_return co_await drain(pipe);
}

net::Task<bool> SpliceRelay::drain(net::SplicePipe& pipe) {
    ErrorCode error;
    while (!error && pipe.bytes() > 0) {
        const net::Received put = pipe.drain(out_.socket());
        request_.stream().count_raw(0, put.size);
        if (put.error == net::asio::error::operation_not_supported) {
            request_.context().splice_pipes.give_up();
            co_return co_await copy_out(pipe);
        }
        error = put.error;
        if (error == net::asio::error::would_block) {
            request_.arm(Waiting::client, request_.route().timeouts.body_idle);
            auto [failed] = co_await net::wait_writable(out_);
            if (request_.is_aborted())
                co_return false;
            error = failed;
        }
    }
    request_.await_upstream();
    if (error)
        request_.abort(AbortReason::client_gone);
    co_return !request_.is_aborted();
}

// Copies the bytes in the pipe to the client, whose socket does not support splice.
net::Task<bool> SpliceRelay::copy_out(net::SplicePipe& pipe) {
    const net::Block block = request_.context().body_blocks.borrow();
    while (pipe.bytes() > 0) {
        const net::Received got = pipe.copy_out(block.span());
        if (got.error) {
            request_.abort(AbortReason::upstream_broken);
            co_return false;
        }
        const bool sent = co_await relay_.send({.payload = {block.data(), got.size}});
        if (!sent)
            co_return false;
    }
    co_return false; // relay_body() copies the rest of the body
}

} // namespace stint::proxy
