// Large answers between plain sockets: the kernel moves them, through a pipe. At 1 MB this takes
// three fifths of the CPU time of copying through a block.
#include "proxy/exchange.hpp"

#include <algorithm>
#include <utility>

namespace stint::proxy {
namespace {

// With less to come a copy is as fast, and needs no pipe.
constexpr std::uint64_t worth_a_pipe = 256 * 1024;

} // namespace

bool Exchange::splices() const noexcept {
    return response_body_.unframed() >= worth_a_pipe && lease_.stream().tls() == nullptr &&
           stream_.raw_body() != nullptr;
}

// Splices until the body's end, or until something broke. Where the system has no pipe to give or
// does not splice, it leaves the body as far as it has come, to be copied.
net::Task<> Exchange::splice_response() {
    stint::Result<net::SplicePipe> pipe = context_.splice_pipes.take();
    if (!pipe)
        co_return;
    block_.release();
    bool more = true;
    while (more && !response_body_.done())
        more = co_await splice_piece(*pipe);
    if (!response_body_.done() && abort_reason_ == AbortReason::no)
        block_ = context_.body_blocks.borrow();
    context_.splice_pipes.keep(std::move(*pipe));
}

// Splices one piece. The pipe is empty before and, unless something broke, afterwards: nothing
// waits in it while the upstream is silent, and "would block" is the upstream's. The wait, even
// with bytes there already, lets other connections have their turn. False: no more is to be
// spliced.
net::Task<bool> Exchange::splice_piece(net::SplicePipe& pipe) {
    arm(Waiting::upstream, route().timeouts.body_idle);
    auto [failed] = co_await net::wait_readable(lease_.stream());
    if (abort_reason_ != AbortReason::no)
        co_return false;
    const std::size_t at_most = std::min<std::uint64_t>(response_body_.unframed(), pipe.capacity);
    const net::Received got =
        failed ? net::Received{failed} : pipe.fill(lease_.stream().socket(), at_most);
    if (got.error == net::asio::error::would_block)
        co_return true;
    if (got.error == net::asio::error::operation_not_supported) {
        context_.splice_pipes.give_up();
        co_return false;
    }
    if (got.error) {
        if (!(got.error == net::asio::error::eof && response_body_.end_of_stream()))
            abort(AbortReason::upstream_broken);
        co_return false;
    }
    response_body_.pass(got.size);
    co_return co_await drain_to_client(pipe);
}

net::Task<bool> Exchange::drain_to_client(net::SplicePipe& pipe) {
    net::Stream& to = *stream_.raw_body();
    ErrorCode error;
    while (!error && pipe.bytes() > 0) {
        const net::Received put = pipe.drain(to.socket());
        stream_.count_raw(0, put.size);
        if (put.error == net::asio::error::operation_not_supported) {
            context_.splice_pipes.give_up();
            co_return co_await copy_to_client(pipe);
        }
        error = put.error;
        if (error == net::asio::error::would_block) {
            arm(Waiting::client, route().timeouts.body_idle);
            auto [failed] = co_await net::wait_writable(to);
            if (abort_reason_ != AbortReason::no)
                co_return false;
            error = failed;
        }
    }
    disarm();
    waiting_ = Waiting::upstream;
    if (error)
        abort(AbortReason::client_gone);
    co_return abort_reason_ == AbortReason::no;
}

// Copies out bytes that are in the pipe already, where they cannot be spliced out of it.
net::Task<bool> Exchange::copy_to_client(net::SplicePipe& pipe) {
    const net::Block block = context_.body_blocks.borrow();
    while (pipe.bytes() > 0) {
        const net::Received got = pipe.copy_out(block.span());
        if (got.error) {
            abort(AbortReason::upstream_broken);
            co_return false;
        }
        const server::ResponsePiece piece{.payload = {block.data(), got.size}};
        const bool sent = co_await send_to_client(piece);
        if (!sent)
            co_return false;
    }
    co_return false; // the rest is copied, too
}

} // namespace stint::proxy
