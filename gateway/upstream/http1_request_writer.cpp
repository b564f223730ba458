#include "upstream/http1_request_writer.hpp"

#include <utility>

namespace stint::upstream {

void Http1RequestWriter::begin(
    const ForwardedRequest& request, const RequestPiece& piece, http::HeadBuffer& scratch) {
    chunked_ = request.head.framing.kind == BodyFraming::Kind::chunked;
    length_left_ = chunked_ ? 0 : request.head.framing.length;
    is_first_ = true;
    scratch.clear();
    http::write_upstream_head(scratch, request.head, request.forwarding);
    unsent_.clear();
    unsent_.add(scratch.view());
    append(piece);
}

void Http1RequestWriter::add(const RequestPiece& piece) {
    unsent_.clear();
    append(piece);
}

// Appends a piece with its framing: at most four buffers.
void Http1RequestWriter::append(const RequestPiece& piece) {
    last_ = piece.last;
    if (chunked_) {
        chunks_.add_chunk(unsent_, piece.payload);
        if (piece.last)
            chunks_.add_end(unsent_, piece.trailer, piece.nominated);
    } else {
        unsent_.add(piece.payload);
        unsent_.add(piece.ahead);
        length_left_ -= piece.payload.size() + piece.ahead.size();
    }
    before_ = unsent_.bytes();
}

void Http1RequestWriter::note_sent() {
    if (unsent_.empty()) [[likely]] {
        begun_ = true;
        done_ = last_ && length_left_ == 0;
        is_first_ = false;
        if (!copy_.empty()) [[unlikely]]
            copy_ = {};
        return;
    }
    const std::size_t left = unsent_.bytes();
    begun_ = begun_ || left < before_;
    before_ = left;
    if (!std::exchange(is_first_, false))
        return;
    copy_.reserve(left);
    unsent_.append_to(copy_);
    unsent_.clear();
    unsent_.add(copy_);
}

} // namespace stint::upstream
