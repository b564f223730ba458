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
    // Begins a request: writes its head into `scratch`, and adds the first piece of the body. If a
    // part of either is not sent at once, note_sent() copies that part; neither is read later.
    void
    begin(const ForwardedRequest& request, const RequestPiece& piece, http::HeadBuffer& scratch);
    // Adds a further piece. Requires: !has_unsent(). The piece must stay in place until all of it
    // is sent.
    void add(const RequestPiece& piece);

    [[nodiscard]] net::Gather& unsent() noexcept { return unsent_; }
    [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
    // Updates begun() and done() after the caller has removed the bytes that it sent from unsent().
    void note_sent();

    // True if the connection has taken at least one byte of the request.
    [[nodiscard]] bool begun() const noexcept { return begun_; }
    // True if the connection has taken the whole request: the last piece and, with a
    // Content-Length, that many bytes. If there were fewer, the connection must not be reused: the
    // upstream would take the next request for the rest of this body.
    [[nodiscard]] bool done() const noexcept { return done_; }

  private:
    void append(const RequestPiece& piece);

    net::Gather unsent_;     // refers to the caller's piece, or to copy_
    std::size_t before_ = 0; // bytes of unsent_ before the last send
    std::string copy_;
    bool is_first_ = false; // the current piece is that of begin(): note_sent() copies it
    bool chunked_ = false;
    std::uint64_t length_left_ = 0; // bytes of the Content-Length that no piece has brought
    bool last_ = false;             // the current piece is the body's last
    http::ChunkFraming chunks_;
    bool begun_ = false;
    bool done_ = false;
};

} // namespace stint::upstream
