// One side of a tunnel: bytes both ways, whatever carries them.
#pragma once

#include "base/error.hpp"
#include "net/io.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"

#include <span>

namespace stint::net {

// Used on one thread. At most one readable() and one writable() are pending at a time.
class ByteEnd {
  public:
    ByteEnd() = default;
    ByteEnd(const ByteEnd&) = delete;
    ByteEnd& operator=(const ByteEnd&) = delete;
    virtual ~ByteEnd() = default;

    // Waits until read() has bytes, the end, or an error. dry: the last read() would have blocked.
    // Otherwise it lets other handlers of the event loop run, if there is more to read.
    [[nodiscard]] virtual Task<ErrorCode> readable(bool dry) = 0;
    // As read_now().
    [[nodiscard]] virtual Received read(std::span<char> into) noexcept = 0;
    // Waits until write() may take more.
    [[nodiscard]] virtual Task<ErrorCode> writable() = 0;
    // As write_now(): consumes what is taken. The bytes need not stay in place afterwards.
    [[nodiscard]] virtual ErrorCode write(Gather& gather) = 0;
    // Ends sending. Bytes of the peer are still received.
    virtual void shutdown_send() noexcept = 0;
    // True if the connection has failed. Called while nothing is read.
    [[nodiscard]] virtual bool was_reset() noexcept = 0;
    // Ends both waits.
    virtual void cancel() noexcept = 0;
    // Ends both directions. broken: the peer gets a reset instead of an orderly end.
    virtual void close(bool broken) noexcept = 0;
};

class SocketEnd final : public ByteEnd {
  public:
    // stream: must outlive this object.
    explicit SocketEnd(Stream& stream) noexcept : stream_{stream} {}

    [[nodiscard]] Task<ErrorCode> readable(bool dry) override;
    [[nodiscard]] Received read(std::span<char> into) noexcept override {
        return read_now(stream_, into);
    }
    [[nodiscard]] Task<ErrorCode> writable() override;
    [[nodiscard]] ErrorCode write(Gather& gather) override { return write_now(stream_, gather); }
    void shutdown_send() noexcept override { net::shutdown_send(stream_); }
    [[nodiscard]] bool was_reset() noexcept override { return net::was_reset(stream_); }
    void cancel() noexcept override { net::cancel(stream_); }
    void close(bool broken) noexcept override;

  private:
    Stream& stream_;
};

} // namespace stint::net
