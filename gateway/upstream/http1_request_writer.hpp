// Writes a request as HTTP/1.1 has it (RFC 9112): its head, then its body in pieces. No I/O.
#pragma once

#include "http/chunk_framing.hpp"
#include "http/head_buffer.hpp"
#include "net/io.hpp"
#include "upstream/upstream_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace stint::upstream {

// One for each request. The caller sends unsent(), as far as the connection takes it, and then
// calls note_sent().
class Http1RequestWriter {
  public:
    // Begins a request: writes its head, into `scratch`, and the first piece of the body. If a part
    // of them is not sent at once, note_sent() copies that part.
    void
    begin(const ForwardedRequest& request, const RequestPiece& piece, http::HeadBuffer& scratch);
    // Writes a further piece, once the last one was sent. The piece must stay in place until it is
    // sent, too.
    void add(const RequestPiece& piece);

    [[nodiscard]] net::Gather& unsent() noexcept { return unsent_; }
    [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
    // Notes how much of unsent() was taken.
    void note_sent();

    // True if the connection has taken a byte.
    [[nodiscard]] bool begun() const noexcept { return begun_; }
    // True if the connection has taken the whole request: the last piece and, with a
    // Content-Length, as many bytes. After fewer bytes the upstream would take the next request for
    // the rest of this body.
    [[nodiscard]] bool done() const noexcept { return done_; }

  private:
    void append(const RequestPiece& piece);

    net::Gather unsent_;     // refers to the caller's piece, or to copy_
    std::size_t before_ = 0; // bytes of unsent_ before the last send
    std::string copy_;
    bool is_first_ = false; // the current piece is that of begin()
    bool chunked_ = false;
    std::uint64_t length_left_ = 0; // bytes of the Content-Length that no piece has brought
    bool last_ = false;             // the current piece is the body's last
    http::ChunkFraming chunks_;
    bool begun_ = false;
    bool done_ = false;
};

} // namespace stint::upstream
