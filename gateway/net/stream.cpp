#include "net/stream.hpp"

namespace stint::net {

Task<ErrorCode> handshake(Stream& stream) {
    TlsSession& tls = *stream.tls();
    tls.begin_wait();
    ErrorCode error = tls.handshake();
    while (error == asio::error::would_block) {
        const auto side = tls.wants_to_write() ? Socket::wait_write : Socket::wait_read;
        auto [failed] = co_await stream.socket().async_wait(side, as_result);
        if (failed || tls.cancelled())
            co_return failed ? failed : ErrorCode{asio::error::operation_aborted};
        error = tls.handshake();
    }
    co_return error;
}

Task<ErrorCode> send_all(Stream& stream, Gather& gather) {
    ErrorCode error = write_now(stream, gather);
    while (!error && !gather.empty()) {
        auto [failed] = co_await wait_writable(stream);
        error = failed ? failed : write_now(stream, gather);
    }
    co_return error;
}

} // namespace stint::net
