#include "server/http1_stream.hpp"

#include "http/head_parser.hpp"
#include "http/response_writer.hpp"
#include "http/rewrite.hpp"
#include "net/stream.hpp"
#include "server/hand_over.hpp"
#include "server/http1_connection.hpp"

#include <algorithm>
#include <utility>

namespace stint::server {
namespace {

// A batch of responses is sent once it has this many bytes.
constexpr std::size_t batch_size = 32 * 1024;

// A body of at least this many bytes is not copied behind its head.
constexpr std::size_t least_in_place = 16 * 1024;

std::string_view first_word(std::span<const char> bytes) noexcept {
    const std::string_view text{bytes.data(), bytes.size()};
    return text.substr(0, text.find(' '));
}

// True for a HEAD request, also if its head could not be read to the end: the response has no body
// (RFC 9110 section 9.3.2).
bool is_head_request(const RequestHead& head, std::span<const char> received) noexcept {
    return (head.method.empty() ? first_word(received) : head.method) == "HEAD";
}

// True if a reset would destroy an earlier response that the client's system has not acknowledged.
// size: bytes of the last response.
bool earlier_response_is_on_its_way(net::Stream& io, std::uint64_t size) noexcept {
    return net::unacknowledged(io.socket()) > size;
}

} // namespace

void Http1Stream::clear() noexcept {
    buffered_body_ = {};
    bytes_in_ = 0;
    bytes_out_ = 0;
    head_sent_ = false;
    keep_alive_ = false;
    body_done_ = true;
    head_size_ = 0;
    consumed_ = 0;
    body_left_ = 0;
    client_keeps_ = false;
    body_begun_ = false;
}

void Http1Stream::begin_unreadable() noexcept {
    clear();
    head_ = {};
    decoder_ = http::BodyDecoder{{}};
}

std::optional<http::HeadError>
Http1Stream::begin(std::size_t head_size, const ConnectionSettings& settings) {
    const std::span<char> received = http1_->input().received().bytes();
    if (fields_.size() != settings.max_fields) [[unlikely]]
        fields_.resize(settings.max_fields);
    clear();
    head_size_ = consumed_ = head_size;
    const http::HeadError* const error = http1_->loop().parser.parse_request(
        {received.data(), head_size}, settings.max_target, fields_, head_);
    if (error != nullptr) [[unlikely]] {
        head_ = {};
        decoder_ = http::BodyDecoder{{}};
        return *error;
    }
    head_.expects_continue = head_.expects_continue && head_.minor_version > 0;
    client_keeps_ = head_.keep_alive;
    decoder_ = http::BodyDecoder{head_.framing};
    if (!head_.framing.has_body()) [[likely]]
        return std::nullopt;
    body_left_ = head_.framing.length;
    const std::span<char> rest = received.subspan(head_size);
    const auto step = decode_body(rest);
    if (!step) {
        client_keeps_ = false;
        body_done_ = false;
        return step.error();
    }
    buffered_body_ = {rest.data(), step->payload};
    consumed_ += step->consumed;
    return std::nullopt;
}

std::optional<std::string> Http1Stream::give_back(std::optional<std::string_view> body) {
    const std::span<char> received = http1_->input().received().bytes();
    const std::string_view all{received.data(), received.size()};
    const bool chunked = head_.framing.kind == BodyFraming::Kind::chunked;
    if (!body_begun_ && !chunked)
        return std::string{all};
    if (body_begun_ && !(body_done_ && body))
        return std::nullopt;
    // A chunked body was decoded in place.
    const std::string_view decoded = body_begun_ ? *body : buffered_body_;
    const auto framed = chunked ? decoder_.framed(decoded) : std::optional<std::string>{decoded};
    if (!framed)
        return std::nullopt;
    std::string request{all.substr(0, head_size_)};
    return request.append(*framed).append(all.substr(consumed_));
}

Http1Stream::Result Http1Stream::end(const RequestEnd& end) noexcept {
    // A response that was cut short ends with a reset, so that the client notices. A reset could
    // destroy an earlier response that is still on its way: then a plain close takes its place if
    // the framing shows the cut. But a client that has not taken all bytes is always reset, and so
    // is every client over TLS, because bytes_out_ does not count the bytes that TLS adds.
    const bool close_suffices =
        !framing_.until_close() && output_.empty() && http1_->io().tls() == nullptr;
    const bool reset =
        end.reset && !(close_suffices && earlier_response_is_on_its_way(http1_->io(), bytes_out_));
    if (reset)
        net::reset_on_close(http1_->io());
    const bool keep = keep_alive_ && end.clean;
    const bool unread = !body_done_ || http1_->input().received().size() > consumed_;
    return {keep, !keep && !reset && unread && !end.gone, consumed_};
}

Sent Http1Stream::send_interim(const ForwardedResponse& response) {
    if (response.head.status == 100 || head_.minor_version == 0 || has_unsent())
        return Sent::all;
    http::HeadBuffer& out = http1_->loop().head_out;
    out.clear();
    http::write_downstream_head(
        out, response.head, {.chunked = false, .keep_alive = true}, response.request_id, {},
        response.shaping);
    net::Gather gather;
    gather.add(out.view());
    bytes_out_ += gather.bytes();
    return note_sent(*connection_, output_.send_copied(http1_->io(), gather));
}

Sent Http1Stream::send_response(const ForwardedResponse& response, const ResponsePiece& piece) {
    http::HeadBuffer& out = http1_->loop().head_out;
    out.clear();
    if (response.protocols.empty()) [[likely]] {
        const bool want_keep = client_keeps_ && stays_open(*http1_) && body_done_;
        http::ResponseFraming framing =
            http::frame_response(head_.minor_version, response.head.framing, want_keep);
        framing.trailers = response.trailers;
        framing_.begin(framing);
        keep_alive_ = framing.keep_alive;
        http::write_downstream_head(
            out, response.head, framing, response.request_id, response.date, response.shaping,
            response.policies);
    } else {
        http::write_switching_head(
            out, response.head, response.protocols, response.request_id, response.shaping,
            response.policies);
    }
    head_sent_ = true;
    net::Gather gather = output_.begin(); // starts with unsent bytes of an interim response
    gather.add(out.view());
    framing_.add(gather, piece);
    bytes_out_ += output_.own_bytes(gather);
    return note_sent(*connection_, output_.send_copied(http1_->io(), gather));
}

Sent Http1Stream::send_local(const http::Response& response, std::string_view date) {
    const bool readable =
        head_.framing.kind == BodyFraming::Kind::chunked || body_left_ <= most_discarded;
    keep_alive_ = client_keeps_ && stays_open(*http1_) &&
                  (body_done_ || (readable && !head_.expects_continue && !body_begun_)) &&
                  response.content() != http::Response::Content::begun;
    framing_.begin({.chunked = false, .keep_alive = keep_alive_});
    http::HeadBuffer& out = http1_->loop().head_out;
    if (!batched_)
        out.clear();
    const std::size_t before = out.size();
    const bool head_only = is_head_request(head_, http1_->input().received().bytes());
    // A small body is copied behind its head: one buffer is cheaper to send than two.
    const bool apart = !head_only && response.body_text().size() >= least_in_place;
    http::write_response(
        out, response,
        {.date = date,
         .head_request = head_only || apart,
         .keep_alive = keep_alive_,
         .client_minor = head_.minor_version});
    head_sent_ = true;
    const std::string_view body = apart ? response.body_text() : std::string_view{};
    bytes_out_ += out.size() - before + body.size();
    // No batch while a read is pending: the connection would have to wait for the end of that read,
    // and other connections may use `out` meanwhile.
    batched_ = http1_->settings().batches_responses && keep_alive_ && body_done_ && !apart &&
               output_.empty() && out.size() < batch_size && !http1_->input().reads() &&
               http1_->input().received().size() > consumed_;
    if (batched_)
        return Sent::all;
    net::Gather gather = output_.begin(); // starts with unsent bytes of an interim response
    gather.add(out.view());
    gather.add(body);
    return note_sent(*connection_, output_.send_copied(http1_->io(), gather));
}

Sent Http1Stream::flush_batch() {
    if (!std::exchange(batched_, false))
        return Sent::all;
    net::Gather gather;
    gather.add(http1_->loop().head_out.view());
    return note_sent(*connection_, output_.send_copied(http1_->io(), gather));
}

Sent Http1Stream::send_body(const ResponsePiece& piece) {
    net::Gather gather = output_.begin();
    framing_.add(gather, piece);
    bytes_out_ += output_.own_bytes(gather);
    return note_sent(*connection_, output_.send_in_place(http1_->io(), gather));
}

net::Task<Sent> Http1Stream::flush() {
    auto [failed] = co_await net::wait_writable(http1_->io());
    if (failed)
        co_return http1_->io().socket().is_open() ? Sent::part : Sent::gone;
    co_return note_sent(*connection_, output_.send_kept(http1_->io()));
}

void Http1Stream::cancel() noexcept {
    net::cancel(http1_->io());
}

void Http1Stream::watch() noexcept {
    if (body_done_)
        http1_->input().watch();
    else
        http1_->input().watch_from_afar();
}

void Http1Stream::watch_unread() noexcept {
    http1_->input().watch_from_afar();
}

void Http1Stream::poll_peer_close() {
    http1_->input().poll_peer_close();
}

void Http1Stream::resume(Step next) {
    http1_->resume(next);
}

net::Stream* Http1Stream::raw_body() noexcept {
    return framing_.chunked() || http1_->io().tls() != nullptr ? nullptr : &http1_->io();
}

net::Task<std::unique_ptr<net::ByteEnd>> Http1Stream::take_over(std::span<const char>& early) {
    co_await http1_->input().hand_over();
    const ErrorCode& ended = http1_->input().error();
    if (ended && ended != net::asio::error::eof)
        co_return nullptr;
    early = http1_->input().received().bytes().subspan(consumed_);
    consumed_ += early.size();
    co_return std::make_unique<net::SocketEnd>(http1_->io());
}

void Http1Stream::watch_for_reset(bool on) noexcept {
    if (on)
        http1_->input().watch_from_afar();
    else
        http1_->input().watch_no_more();
}

} // namespace stint::server
