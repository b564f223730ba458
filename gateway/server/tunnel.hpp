// Relays bytes both ways between a client and an upstream, whatever they mean: after a switch of
// protocols (RFC 9110 section 7.8), or to the process that replaces this one.
#pragma once

#include "net/buffer_pool.hpp"
#include "net/byte_end.hpp"
#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "net/stream.hpp"
#include "server/client_stream.hpp"
#include "server/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::server {

// Its owner awaits join() before it destroys the tunnel or one of the connections. Each way
// (direction) stops reading while its receiver takes nothing, and holds a block only while it has
// bytes to send. A half-close is passed on after all bytes before it; the other way goes on. A
// failure on either way, or silence on both ways for `idle`, ends both.
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

    // stream: the client's stream, asked to watch for resets while a way does not read; may be
    // null.
    Tunnel(
        Loop& loop,
        ClientStream* stream,
        net::ByteEnd& client,
        net::Stream& upstream,
        Duration idle);

    // Relays both ways until both have ended. Call it once. early: the client's bytes that came
    // before the tunnel began; they have to stay in place until join(). block: its first `size`
    // bytes are the upstream's that came before; it is released once they are sent. Throws without
    // memory: call join() then, too.
    [[nodiscard]] net::Task<> run(std::string_view early, net::Block& block, std::size_t size);
    // Waits until no coroutine of the tunnel refers to this object.
    [[nodiscard]] net::Task<> join();

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
        bool more = true;  // may be read from
        bool reads = true; // false: waits for its receiver, or its stream has ended
    };

    static net::Task<> carry_up(Tunnel& self, std::string_view early);
    net::Task<> carry_early(Way& way, std::string_view early);
    net::Task<> carry(Way& way);
    net::Task<bool> carry_piece(Way& way);
    net::Task<bool> deliver(Way& way, std::string_view bytes);
    void finish(Way& way) noexcept;
    void watch();
    void touch();
    void on_deadline() noexcept override;
    [[nodiscard]] bool over() const noexcept { return end_ != End::none; }

    Loop& loop_;
    ClientStream* const stream_;
    const Duration idle_;
    net::SocketEnd upstream_;
    Way up_;
    Way down_;
    End end_ = End::none;
    int ended_ways_ = 0; // ways whose stream has ended
    bool carries_up_ = false;
    net::Event carried_up_;
};

} // namespace stint::server
