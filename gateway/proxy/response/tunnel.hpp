// Relays bytes both ways between a client and an upstream that have switched protocols (RFC 9110
// section 7.8). Knows nothing of the protocol.
#pragma once

#include "net/buffer_pool.hpp"
#include "net/byte_end.hpp"
#include "net/deadlines.hpp"
#include "net/stream.hpp"
#include "proxy/context.hpp"
#include "server/client_stream.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::proxy {

// One for each exchange, which owns it. The exchange keeps the tunnel and both connections alive
// until carry_up() and carry_down() have ended. Each way (direction) stops reading while its
// receiver takes nothing, and holds a block only while it has bytes to send. A half-close is passed
// on after all bytes before it; the other way goes on. A failure on either way, or silence on both
// ways for `idle`, ends both.
class Tunnel : private net::Deadline {
  public:
    // The reason for the tunnel's end.
    enum class End : std::uint8_t {
        none,            // the tunnel has not ended
        closed,          // both sides have closed
        idle,            // no byte came on either way for too long
        client_failed,   // the client's connection was reset
        upstream_failed, // the upstream's connection was reset
        told             // the owner called end()
    };

    // stream: the client's stream, asked to watch for resets while a way does not read.
    Tunnel(
        Context& context,
        server::ClientStream& stream,
        net::ByteEnd& client,
        net::Stream& upstream,
        Duration idle);
    ~Tunnel();

    // Relays the bytes from the client to the upstream. Call it once. early: bytes that came before
    // the switch was complete; they have to stay in place until this way has ended.
    [[nodiscard]] net::Task<> carry_up(std::string_view early);
    // Relays the bytes from the upstream to the client. Call it once. early: a block whose first
    // `size` bytes came before the switch was complete; it is released once they are sent.
    [[nodiscard]] net::Task<> carry_down(net::Block& early, std::size_t size);

    // Ends both ways soon. The client's socket stays open, for its owner to close.
    void end(End why = End::told) noexcept;
    // Ends both ways if a connection was reset. Called with every tick while a way does not read
    // from its sender.
    void poll_peer_close() noexcept;

    [[nodiscard]] End ended() const noexcept { return end_; }
    // Number of bytes that were passed on in each direction.
    [[nodiscard]] std::uint64_t bytes_up() const noexcept { return up_.bytes; }
    [[nodiscard]] std::uint64_t bytes_down() const noexcept { return down_.bytes; }

  private:
    struct Way {
        net::ByteEnd& from;
        net::ByteEnd& to;
        End from_failed;
        End to_failed;
        std::uint64_t bytes = 0;
        bool dry = true;   // nothing can be read until the sender is readable
        bool reads = true; // false: waits for its receiver, or its stream has ended
    };

    net::Task<> carry(Way& way);
    net::Task<bool> carry_piece(Way& way);
    net::Task<bool> deliver(Way& way, std::string_view bytes);
    void finish(Way& way) noexcept;
    void watch();
    void touch();
    void on_deadline() noexcept override;
    [[nodiscard]] bool over() const noexcept { return end_ != End::none; }

    Context& context_;
    server::ClientStream& stream_;
    const Duration idle_;
    net::SocketEnd upstream_;
    Way up_;
    Way down_;
    End end_ = End::none;
    int ended_ways_ = 0; // ways whose stream has ended
};

} // namespace stint::proxy
