// Framing of the pieces of an HTTP/1 response's body (RFC 9112 section 7.1).
#pragma once

#include "http/chunk_framing.hpp"
#include "http/rewrite.hpp"
#include "net/io.hpp"
#include "server/client_stream.hpp"

namespace stint::server {

// Pieces of a body that is not chunked stay as they are.
class PieceFraming {
  public:
    void begin(const http::ResponseFraming& framing) noexcept { framing_ = framing; }
    [[nodiscard]] bool chunked() const noexcept { return framing_.chunked; }
    [[nodiscard]] bool until_close() const noexcept { return framing_.until_close; }
    // Adds a piece, with its chunk header, and the end of the body after the last one. The gathered
    // bytes are valid until the next add().
    void add(net::Gather& gather, const ResponsePiece& piece);

  private:
    http::ResponseFraming framing_;
    http::ChunkFraming chunks_;
};

} // namespace stint::server
