#include "server/piece_framing.hpp"

namespace stint::server {

void PieceFraming::add(net::Gather& gather, const ResponsePiece& piece) {
    if (!framing_.chunked)
        return gather.add(piece.payload);
    chunks_.add_chunk(gather, piece.payload);
    if (piece.last)
        chunks_.add_end(
            gather, framing_.trailers ? piece.trailer : std::string_view{}, piece.nominated);
}

} // namespace stint::server
