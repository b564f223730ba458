#include "net/byte_end.hpp"

namespace stint::net {

Task<ErrorCode> SocketEnd::readable(bool dry) {
    if (!dry && has_buffered(stream_)) {
        co_await yield_to_others(stream_.socket());
        co_return ErrorCode{};
    }
    auto [failed] = co_await wait_readable(stream_);
    co_return failed;
}

Task<ErrorCode> SocketEnd::writable() {
    auto [failed] = co_await wait_writable(stream_);
    co_return failed;
}

void SocketEnd::close(bool broken) noexcept {
    if (broken)
        reset_on_close(stream_);
    net::close(stream_);
}

} // namespace stint::net
