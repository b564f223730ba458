#include "server/http2_half_close.hpp"

#include "net/io.hpp"
#include "server/http1_connection.hpp"
#include "server/http2_connection.hpp"

namespace stint::server {

bool Http2HalfClose::begin(
    Http2Session& session, Http2Drain& drain, const StreamPool<Http2Stream>::List& streams) {
    const ClientInput& input = host_.input();
    if (begun_ || !input.error() || !input.can_answer())
        return false;
    begun_ = true;
    drain.stop(session);
    for (const auto& stream : streams)
        if (!stream->state.in.ended())
            http2_.reset(*stream, Http2Error::cancel);
    pending_ = true;
    const auto reset = [this](const ErrorCode&) {
        pending_ = false;
        http2_.abort();
    };
    host_.io().socket().async_wait(net::Socket::wait_error, net::in_place(memory_, reset));
    if (net::peer_closed(host_.io(), false)) // before it was watched for
        http2_.abort();
    return true;
}

} // namespace stint::server
