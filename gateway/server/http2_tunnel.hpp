// The client's side of a tunnel on a stream of HTTP/2 (RFC 8441 section 5): its DATA frames.
#pragma once

#include "net/byte_end.hpp"

#include <span>

namespace stint::server {

class Http2Connection;
class Http2Stream;

class Http2Tunnel final : public net::ByteEnd {
  public:
    // Both must outlive this object.
    Http2Tunnel(Http2Connection& connection, Http2Stream& stream) noexcept
        : connection_{connection}, stream_{stream} {}

    [[nodiscard]] net::Task<ErrorCode> readable(bool dry) override;
    // Gives the client a window for as many bytes.
    [[nodiscard]] net::Received read(std::span<char> into) noexcept override;
    [[nodiscard]] net::Task<ErrorCode> writable() override;
    // Takes all bytes, or none while earlier ones wait for the client's window.
    [[nodiscard]] ErrorCode write(net::Gather& gather) override;
    void shutdown_send() noexcept override;
    [[nodiscard]] bool was_reset() noexcept override;
    void cancel() noexcept override;
    void close(bool broken) noexcept override;

  private:
    Http2Connection& connection_;
    Http2Stream& stream_;
};

} // namespace stint::server
