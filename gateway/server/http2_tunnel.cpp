#include "server/http2_tunnel.hpp"

#include "server/http1_connection.hpp"
#include "server/http2_connection.hpp"
#include "server/http2_stream.hpp"

namespace stint::server {

net::Task<ErrorCode> Http2Tunnel::readable(bool dry) {
    if (!dry && stream_.state.in.size() > 0)
        co_await net::yield_to_others(connection_.host().io().socket());
    else
        co_await stream_.wait_for_body();
    co_return ErrorCode{};
}

net::Received Http2Tunnel::read(std::span<char> into) noexcept {
    Http2RequestBody& in = stream_.state.in;
    if (const std::size_t size = in.take(into); size > 0) {
        stream_.consumed(size);
        return {{}, size};
    }
    if (in.ended())
        return {net::asio::error::eof};
    if (stream_.state.closed)
        return {net::asio::error::connection_reset};
    return {net::asio::error::would_block};
}

net::Task<ErrorCode> Http2Tunnel::writable() {
    const Sent sent = co_await stream_.flush();
    if (sent == Sent::gone)
        co_return net::asio::error::connection_reset;
    co_return ErrorCode{};
}

ErrorCode Http2Tunnel::write(net::Gather& gather) {
    Http2StreamState& state = stream_.state;
    if (state.closed)
        return net::asio::error::connection_reset;
    if (gather.empty() || stream_.has_unsent())
        return {};
    for (const iovec& piece : gather.pieces()) {
        state.out.add_in_place({static_cast<const char*>(piece.iov_base), piece.iov_len});
        connection_.resume_sending(stream_);
        connection_.send_now();
        state.out.keep();
    }
    gather.clear();
    return {};
}

void Http2Tunnel::shutdown_send() noexcept {
    stream_.state.out.end({});
    if (!stream_.state.closed)
        connection_.resume_sending(stream_);
}

bool Http2Tunnel::was_reset() noexcept {
    return stream_.state.closed && !(stream_.state.in.ended() && stream_.state.out.done());
}

void Http2Tunnel::cancel() noexcept {
    stream_.cancel();
}

void Http2Tunnel::close(bool) noexcept {
    connection_.reset(stream_, Http2Error::cancel);
}

} // namespace stint::server
