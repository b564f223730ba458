#include "server/http2_stream.hpp"

#include "http/ascii.hpp"
#include "http/response_writer.hpp"
#include "http/rewrite.hpp"
#include "http/target.hpp"
#include "http/trailers.hpp"
#include "http/websocket.hpp"
#include "net/clock.hpp"
#include "net/stream.hpp"
#include "server/http1_connection.hpp"
#include "server/http2_connection.hpp"
#include "server/http2_tunnel.hpp"
#include "tls/server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

namespace stint::server {
namespace {

// A response's bytes up to this number are copied, and sent together with those of other streams;
// more are sent at once, and in place.
constexpr std::size_t most_copied = 4 * 1024;

// Memory that a stream keeps for its next request.
constexpr std::size_t most_kept = 16 * 1024;

// A tunnel of which one side is not read is looked at after each such time.
constexpr Duration poll_interval = std::chrono::seconds{1};

// A DATA frame's head is counted with the bytes sent.
constexpr std::size_t frame_head = 9;

// Differs from request to request, and is no secret (RFC 6455 section 10.3).
std::string new_websocket_key() {
    std::array<std::uint8_t, 16> nonce{};
    std::random_device random;
    std::ranges::generate(nonce, [&random] { return static_cast<std::uint8_t>(random()); });
    return http::websocket_key(nonce);
}

// The lines of the trailer to send behind a piece. wanted: the response may have a trailer.
std::string trailer_of(const ResponsePiece& piece, bool wanted) {
    std::string lines;
    if (piece.last && wanted)
        http::append_trailer_fields(lines, piece.trailer, piece.nominated);
    return lines;
}

// True if requests for this host, with or without a port, may come on this connection.
bool serves(Http1Connection& connection, std::string_view authority) {
    net::TlsSession* const tls = connection.io().tls();
    if (tls == nullptr)
        return true;
    std::string scratch;
    return connection.options().tls->serves(tls->ssl(), http::normalise_host(authority, scratch));
}

} // namespace

void Http2Stream::attach(Http2Connection& connection, const ConnectionInfo& info) noexcept {
    http2_ = &connection;
    connection_ = &info;
    head_ = {};
    buffered_body_ = {};
    bytes_in_ = bytes_out_ = 0;
    body_done_ = true;
    head_sent_ = keep_alive_ = false;
    trailers_ = cancelled_ = false;
    state.in.begin();
    state.out.begin();
    state.next = Step::pending;
    state.phase = Http2StreamState::Phase::head;
    state.bodiless = false;
    state.closed = state.told_gone = state.running = false;
    state.progressed = state.listed = state.reset = false;
}

void Http2Stream::release_large() noexcept {
    stall_.disarm();
    state.fields.shrink(most_kept);
    state.in.drop_first();
    state.in.release();
    state.out.release(most_kept);
}

std::optional<http::HeadError> Http2Stream::begin(bool stays) {
    const std::string key = state.fields.asks_for_tunnel() ? new_websocket_key() : std::string{};
    const auto error = state.fields.finish(state.bodiless, head_, key);
    head_.stream = static_cast<std::uint32_t>(state.id);
    head_.keep_alive = stays;
    state.in.dispatch();
    if (error)
        return error;
    if (!serves(http2_->host(), head_.authority))
        return http::HeadError{421, "The connection was made to a host with other certificates."};
    if (head_.extended_connect)
        return std::nullopt; // early bytes belong to the tunnel
    buffered_body_ = state.in.first();
    bytes_in_ = buffered_body_.size();
    body_done_ = state.in.ended() || !head_.framing.has_body();
    return std::nullopt;
}

void Http2Stream::wake() {
    if (!std::exchange(state.progressed, false) && !state.closed)
        return;
    for (net::Event& each : flushes_)
        each.signal();
    read_.signal();
}

void Http2Stream::watch_sending() {
    if (state.closed || state.out.done())
        return stall_.disarm();
    http2_->host().loop().deadlines.arm(
        stall_, http2_->host().settings().head_timeout, net::read_coarse_clock());
}

// A handler that has given all of the response ends once little of it is left, which is sent later.
void Http2Stream::uncount_unsent() noexcept {
    if (state.closed || !state.out.last() || has_unsent())
        bytes_out_ -= std::min<std::uint64_t>(bytes_out_, state.out.size());
}

// The client takes no more of a response whose handler has ended: its memory is needed. Or it is
// time to look at a tunnel.
void Http2Stream::on_stalled() noexcept {
    if (!state.handler)
        return http2_->reset(*this, Http2Error::cancel);
    watch_for_reset(true);
    state.handler->poll_tunnel();
}

void Http2Stream::watch_for_reset(bool on) noexcept {
    if (!on)
        stall_.disarm();
    else if (!stall_.armed())
        http2_->host().loop().deadlines.arm(stall_, poll_interval, net::read_coarse_clock());
}

// --- the request's body ---

std::string_view Http2Stream::read_ahead(net::Block& into) {
    if (head_.framing.kind != BodyFraming::Kind::length || head_.expects_continue ||
        state.in.size() == 0)
        return {};
    into = http2_->host().loop().body_blocks.borrow();
    const std::size_t size = state.in.take(into.span());
    bytes_in_ += size;
    body_done_ = state.in.ended() && state.in.size() == 0;
    return {into.data(), size};
}

Sent Http2Stream::allow_body() {
    if (!head_.expects_continue || !buffered_body_.empty() || head_sent_ || state.in.size() > 0 ||
        body_done_)
        return Sent::all;
    if (state.closed)
        return Sent::gone;
    http2_->fields().assign({{":status", "100"}});
    return http2_->submit_interim(*this) ? Sent::all : Sent::gone;
}

void Http2Stream::drop_buffered_body() noexcept {
    buffered_body_ = {};
    state.in.drop_first();
}

net::Task<> Http2Stream::wait_for_body() {
    cancelled_ = false;
    while (state.in.size() == 0 && !state.in.ended() && !state.closed && !cancelled_)
        co_await read_.wait();
}

net::Task<BodyPiece> Http2Stream::read_body(net::Block& into) {
    co_await wait_for_body();
    if (cancelled_ || (state.closed && !state.in.ended()))
        co_return BodyPiece{BodyPiece::Status::gone};
    const std::size_t size = state.in.take(into.span());
    bytes_in_ += size;
    body_done_ = state.in.ended() && state.in.size() == 0;
    co_return BodyPiece{BodyPiece::Status::arrived, {into.data(), size}};
}

void Http2Stream::consumed(std::size_t bytes) noexcept {
    if (!state.closed)
        http2_->consume(*this, bytes);
}

// The connection needs nothing of the body that is left: it resets the stream after the response.
net::Task<> Http2Stream::discard_body() {
    co_return;
}

// --- the response ---

Sent Http2Stream::send_interim(const ForwardedResponse& response) {
    if (response.head.status == 100)
        return Sent::all;
    if (state.closed)
        return Sent::gone;
    http::HeadBuffer& out = http2_->host().loop().head_out;
    out.clear();
    http::write_downstream_head(
        out, response.head, {.chunked = false, .keep_alive = true}, response.request_id, {},
        response.shaping);
    bytes_out_ += out.size();
    http::fields_of_response(out.view(), http2_->fields());
    return http2_->submit_interim(*this) ? Sent::all : Sent::gone;
}

Sent Http2Stream::send_response(const ForwardedResponse& response, const ResponsePiece& piece) {
    http::HeadBuffer& out = http2_->host().loop().head_out;
    out.clear();
    trailers_ = response.trailers;
    if (!response.protocols.empty())
        return send_switched(response);
    http::write_downstream_head(
        out, response.head, {.chunked = false, .keep_alive = true, .trailers = response.trailers},
        response.request_id, response.date, response.shaping, response.policies);
    return send_head(out.view(), piece.payload, piece.last, trailer_of(piece, trailers_));
}

// A 101 is a 200 that has a body (RFC 8441 section 5).
Sent Http2Stream::send_switched(const ForwardedResponse& response) {
    if (state.closed)
        return Sent::gone;
    http::HeadBuffer& out = http2_->host().loop().head_out;
    http::write_switching_head(
        out, response.head, response.protocols, response.request_id, response.shaping,
        response.policies);
    head_sent_ = true;
    bytes_out_ += out.size();
    std::vector<http::Http2Field>& fields = http2_->fields();
    http::fields_of_response(out.view(), fields);
    fields.front().value = "200";
    std::erase_if(fields, [](const http::Http2Field& field) {
        return http::ascii::equals_folded(field.name, "sec-websocket-accept");
    });
    return http2_->submit_response(*this, true) ? Sent::all : Sent::gone;
}

Sent Http2Stream::send_local(const http::Response& response, std::string_view date) {
    http::HeadBuffer& out = http2_->host().loop().head_out;
    out.clear();
    const bool head_only = state.fields.is_head_request();
    http::write_response(out, response, {.date = date, .head_request = true, .keep_alive = true});
    const std::string_view body = head_only ? std::string_view{} : response.body_text();
    return send_head(
        out.view(), body, head_only || response.content() != http::Response::Content::begun, {});
}

// Submits the final head, with a first piece of the body, of which what the client does not take
// at once is copied.
Sent Http2Stream::send_head(
    std::string_view head, std::string_view payload, bool last, std::string trailer) {
    if (state.closed)
        return Sent::gone;
    head_sent_ = true;
    bytes_out_ += head.size() + payload.size() + (payload.empty() ? 0 : frame_head);
    http::fields_of_response(head, http2_->fields());
    const bool has_body = !payload.empty() || !last || !trailer.empty();
    state.out.add_in_place(payload);
    if (last)
        state.out.end(std::move(trailer));
    if (!http2_->submit_response(*this, has_body))
        return Sent::gone;
    if (payload.size() > most_copied)
        http2_->send_now();
    state.out.keep();
    return has_unsent() ? Sent::part : Sent::all;
}

Sent Http2Stream::send_body(const ResponsePiece& piece) {
    if (state.closed)
        return Sent::gone;
    bytes_out_ += piece.payload.size() + (piece.payload.empty() ? 0 : frame_head);
    state.out.add_in_place(piece.payload);
    if (piece.last)
        state.out.end(trailer_of(piece, trailers_));
    if (state.out.size() <= most_copied)
        state.out.keep();
    http2_->resume_sending(*this);
    if (state.out.is_in_place())
        http2_->send_now();
    return has_unsent() ? Sent::part : Sent::all;
}

bool Http2Stream::has_unsent() const noexcept {
    return !state.closed && (state.out.is_in_place() || state.out.size() > most_copied);
}

net::Task<Sent> Http2Stream::flush() {
    cancelled_ = false;
    if (!state.closed && has_unsent())
        co_await (flushes_[0].has_waiter() ? flushes_[1] : flushes_[0]).wait();
    if (state.closed && !state.out.done())
        co_return Sent::gone;
    co_return has_unsent() ? Sent::part : Sent::all;
}

// --- waits ---

void Http2Stream::cancel() noexcept {
    cancelled_ = true;
    read_.signal();
    for (net::Event& each : flushes_)
        each.signal();
}

void Http2Stream::poll_peer_close() {
    const bool closed_is_gone = !http2_->host().options().half_close_allowed;
    if (!net::peer_closed(http2_->host().io(), closed_is_gone) || !state.handler)
        return;
    state.told_gone = true;
    state.handler->on_client_gone();
}

void Http2Stream::resume(Step next) {
    state.next = next;
    http2_->look_at(*this);
}

net::Task<std::unique_ptr<net::ByteEnd>> Http2Stream::take_over(std::span<const char>& early) {
    if (state.closed && !state.in.ended())
        co_return nullptr;
    early = state.in.first();
    consumed(early.size());
    co_return std::make_unique<Http2Tunnel>(*http2_, *this);
}

} // namespace stint::server
