#include "server/piece_framing.hpp"

#include "http/trailers.hpp"

namespace stint::server {

void PieceFraming::add(net::Gather& gather, const ResponsePiece& piece) {
    if (!piece.payload.empty()) {
        if (framing_.chunked)
            gather.add(chunk_.emplace(piece.payload.size()).view());
        gather.add(piece.payload);
        if (framing_.chunked)
            gather.add(http::chunk_end);
    }
    if (!framing_.chunked || !piece.last)
        return;
    if (!framing_.trailers) [[likely]]
        return gather.add(http::last_chunk);
    ending_ = "0\r\n";
    http::append_trailer_fields(ending_, piece.trailer, piece.nominated);
    ending_ += http::chunk_end;
    gather.add(ending_);
}

} // namespace stint::server
