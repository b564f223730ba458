// Output of one HTTP/1 stream: bytes are sent at once, and those that the socket does not take are
// kept.
#pragma once

#include "net/io.hpp"
#include "net/stream.hpp"
#include "server/client_stream.hpp"
#include "server/unsent_bytes.hpp"

#include <cstddef>

namespace stint::server {

// Kept bytes are sent before all later ones: each message is appended to the result of begin(),
// which refers to the kept copies. A send returns Sent::part if bytes are kept after it.
class Http1Output {
  public:
    [[nodiscard]] bool empty() const noexcept { return copied_.empty() && in_place_.empty(); }
    // Begins a message with the kept copies. Requires that no bytes are kept in place.
    [[nodiscard]] net::Gather begin() const noexcept {
        net::Gather gather;
        gather.add(copied_.view());
        return gather;
    }
    // Returns the size of a message that begin() began, without the kept bytes before it.
    [[nodiscard]] std::size_t own_bytes(const net::Gather& gather) const noexcept {
        return gather.bytes() - copied_.view().size();
    }
    // Sends a message, and keeps a copy of what the client does not take.
    [[nodiscard]] Sent send_copied(net::Stream& io, net::Gather& gather);
    // Sends a message without a copy: the caller leaves its bytes in place until all are sent.
    [[nodiscard]] Sent send_in_place(net::Stream& io, net::Gather& gather);
    // Sends as much of the kept bytes as the client takes.
    [[nodiscard]] Sent send_kept(net::Stream& io);
    // Forgets kept bytes, and frees the memory that a large message has needed.
    void release() noexcept;

  private:
    UnsentBytes copied_;
    net::Gather in_place_; // begins with copied_ if that is not empty
};

// Tells the connection's session if all bytes so far were given to the socket. Returns `sent`.
Sent note_sent(const ConnectionInfo& connection, Sent sent) noexcept;

} // namespace stint::server
