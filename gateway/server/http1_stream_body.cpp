// Body of an HTTP/1 request: decoded while it is read, and dropped where the response needs none.
#include "net/clock.hpp"
#include "net/io.hpp"
#include "server/http1_connection.hpp"
#include "server/http1_stream.hpp"

#include <algorithm>
#include <chrono>

namespace stint::server {
namespace {

// A body is read and dropped for at most this time.
constexpr Duration discard_time = std::chrono::seconds{1};

} // namespace

// Decodes bytes of the body, and counts them.
stint::Result<http::BodyDecoder::Step, http::HeadError>
Http1Stream::decode_body(std::span<char> bytes) noexcept {
    const auto step = decoder_.decode(bytes);
    if (step) {
        bytes_in_ += step->payload;
        body_left_ -= std::min<std::uint64_t>(body_left_, step->payload);
        body_done_ = decoder_.done();
    }
    return step;
}

// Reads only a body of known length. A read of a chunked body may take bytes of the next request,
// for which there has to be room.
std::string_view Http1Stream::read_ahead(net::Block& into) {
    if (head_.framing.kind != BodyFraming::Kind::length || head_.expects_continue)
        return {};
    into = http1_->loop().body_blocks.borrow();
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, into.size()));
    const net::Received got = net::read_now(http1_->io(), into.span().first(size));
    const auto step = decode_body(into.span().first(got.size));
    if (got.error || !step)
        return {}; // read_body() will report the error
    body_begun_ = true;
    return {into.data(), step->payload};
}

Sent Http1Stream::allow_body() {
    if (!head_.expects_continue || !buffered_body_.empty() || head_sent_)
        return Sent::all;
    net::Gather gather = output_.begin(); // starts with unsent bytes of an interim response
    gather.add("HTTP/1.1 100 Continue\r\n\r\n");
    bytes_out_ += output_.own_bytes(gather);
    return note_sent(*connection_, output_.send_copied(http1_->io(), gather));
}

// Makes room behind the head: without it a chunked body would be read one byte at a time.
void Http1Stream::drop_buffered_body() noexcept {
    http1_->input().received().drop_behind(head_size_);
    consumed_ = head_size_;
    buffered_body_ = {};
    body_begun_ = true;
}

// Reads no further than the body's end. If its length is unknown, reads at most one byte more than
// fits behind the head: those bytes may belong to the next request.
net::Task<BodyPiece> Http1Stream::read_body(net::Block& into) {
    if (http1_->input().error().failed())
        co_return BodyPiece{BodyPiece::Status::gone};
    ReceivedBytes& received = http1_->input().received();
    const std::uint64_t most = head_.framing.kind == BodyFraming::Kind::length
                                   ? body_left_
                                   : std::uint64_t{received.room().size()} + 1;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, into.size()));
    http1_->input().watch_no_more();
    auto [error, got] = co_await http1_->input().read_some(into.span().first(size));
    if (error)
        co_return BodyPiece{BodyPiece::Status::gone};
    const auto step = decode_body(into.span().first(got));
    if (!step)
        co_return BodyPiece{BodyPiece::Status::malformed, {}, step.error().detail};
    received.append(into.span().first(got).subspan(step->consumed));
    co_return BodyPiece{BodyPiece::Status::arrived, {into.data(), step->payload}};
}

net::Task<> Http1Stream::discard_body() {
    if (!keep_alive_ || body_done_)
        co_return;
    net::Block block = http1_->loop().body_blocks.borrow();
    std::uint64_t discarded = 0;
    drop_buffered_body();
    const SteadyTime end = net::read_steady_clock() + discard_time;
    bool more = true;
    while (more && !body_done_ && discarded < most_discarded) {
        http1_->arm_discard(discard_time);
        const BodyPiece piece = co_await read_body(block);
        http1_->disarm_discard();
        more = piece.status == BodyPiece::Status::arrived && net::read_steady_clock() < end;
        discarded += piece.payload.size();
    }
    keep_alive_ = body_done_;
}

} // namespace stint::server
