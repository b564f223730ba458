// Relays bytes both ways between a client and an upstream that have switched protocols (RFC 9110
// section 7.8). Knows nothing of the protocol.
#pragma once

#include "net/buffer_pool.hpp"
#include "net/deadlines.hpp"
#include "net/stream.hpp"
#include "proxy/context.hpp"
#include "server/client_stream.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::proxy {

// One per exchange, which owns it and both connections and keeps all of them until carry_up() and
// carry_down() have ended. Each way waits until its receiver takes more, and holds a block only
// while it has bytes to send. The end of one side's stream is passed on once everything before it
// was sent; the other way goes on. Any failure ends both, and so does silence on both ways for
// `idle`.
class Tunnel : private net::Deadline {
  public:
    // The reason for the tunnel's end.
    enum class End : std::uint8_t {
        none,            // it goes on
        closed,          // both sides have closed
        idle,            // nothing came for too long
        client_failed,   // the client's connection was reset
        upstream_failed, // the upstream's was
        told             // its owner called end()
    };

    // stream: tells of resets of `client`, its connection.
    Tunnel(
        Context& context,
        server::ClientStream& stream,
        net::Stream& client,
        net::Stream& upstream,
        Duration idle);
    ~Tunnel();

    // Relays one way; each is to be run once. early: bytes that came before the switch was
    // complete; they stay in place until the way has ended.
    [[nodiscard]] net::Task<> carry_up(std::string_view early);
    // early: the first `size` bytes of a block, which is released once they are sent.
    [[nodiscard]] net::Task<> carry_down(net::Block& early, std::size_t size);

    // Ends both ways soon. The client's socket stays open, for its owner to close.
    void end(End why = End::told) noexcept;
    // Ends both ways after a reset. Called with every tick, while a way does not read from its
    // sender.
    void poll_peer_close() noexcept;

    [[nodiscard]] End ended() const noexcept { return end_; }
    // Bytes that were sent on.
    [[nodiscard]] std::uint64_t bytes_up() const noexcept { return up_.bytes; }
    [[nodiscard]] std::uint64_t bytes_down() const noexcept { return down_.bytes; }

  private:
    struct Way {
        net::Stream& from;
        net::Stream& to;
        End from_failed;
        End to_failed;
        std::uint64_t bytes = 0;
        bool dry = true;   // it has nothing to read until the socket says so
        bool reads = true; // false: blocked by its receiver, or at the end of its stream
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
    Way up_;
    Way down_;
    End end_ = End::none;
    int ended_ways_ = 0; // ways that ended with their streams
};

// State of a request that offers other protocols.
struct UpgradeState {
    std::string offer;     // as http::offered_protocols() gives it, never empty
    bool switched = false; // the client has its 101
    std::optional<Tunnel> tunnel;
};

} // namespace stint::proxy
