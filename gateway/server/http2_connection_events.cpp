// Events of an HTTP/2 connection's session, and its end.
#include "net/clock.hpp"
#include "server/http1_connection.hpp"
#include "server/http2_connection.hpp"
#include "server/loop.hpp"

#include <algorithm>
#include <utility>

namespace stint::server {

// --- the session's events ---

Http2Stream* Http2Connection::on_request_begun(std::int32_t id) {
    // Those are counted, too, that the client has reset and whose handlers have not ended.
    if (streams_.size() / 2 >= bounds_.max_streams)
        on_flood();
    if (ended_ || abusive_)
        return nullptr;
    Streams::Pointer& stream = streams_.emplace_back(loop_.http2_streams.take(*this, host_.info()));
    const ConnectionSettings& now = host_.settings();
    times_.on_request();
    stream->state.id = id;
    stream->state.fields.begin(
        {.max_head = now.max_head, .max_target = now.max_target, .max_fields = now.max_fields});
    const bool enough = bounds_.max_requests > 0 && ++requests_ >= bounds_.max_requests;
    if (enough && !is_needed(host_))
        drain_.announce(session_);
    return stream.get();
}

bool Http2Connection::on_field(
    Http2Stream& stream, std::string_view name, std::string_view value, bool valid) {
    using Size = http::Http2Request::Size;
    http::Http2Request& fields = stream.state.fields;
    const bool of_head = stream.state.phase == Http2StreamState::Phase::head;
    if (!valid && of_head)
        fields.add_malformed();
    // Trailers are dropped, as HTTP/1 drops them.
    const Size size = of_head ? fields.add(name, value) : fields.count(name, value);
    if (size != Size::within)
        on_glitch(observe::Http2Glitch::header_list);
    if (size == Size::absurd)
        end_abuse();
    return size != Size::absurd;
}

void Http2Connection::on_head(Http2Stream& stream, bool ends) {
    stream.state.phase = Http2StreamState::Phase::arrived;
    stream.state.bodiless = ends;
    if (ends)
        stream.state.in.end();
    look_at(stream);
}

// The connection's window is given back at once: the streams' windows bound what is held.
void Http2Connection::on_data(Http2Stream& stream, std::span<const char> bytes) {
    session_.consume_connection(bytes.size());
    if (stream.state.phase == Http2StreamState::Phase::begun && !stream.state.handler)
        return session_.consume_stream(stream.state.id, bytes.size()); // the request has ended
    stream.state.in.append(bytes);
    stream.state.progressed = true;
    look_at(stream);
}

void Http2Connection::on_request_end(Http2Stream& stream) {
    stream.state.in.end();
    stream.state.progressed = true;
    look_at(stream);
}

void Http2Connection::on_stream_closed(Http2Stream& stream, bool cut) {
    stream.state.closed = true;
    if (cut)
        stream.state.out.set_unwanted();
    stream.state.phase = Http2StreamState::Phase::begun;
    look_at(stream);
}

void Http2Connection::on_glitch(observe::Http2Glitch kind) {
    ++loop_.counters.http2_glitches[static_cast<std::size_t>(kind)];
    const Glitches::Verdict verdict = glitches_.add(net::read_coarse_clock());
    if (verdict == Glitches::Verdict::go_away)
        drain_.stop(session_);
    if (verdict == Glitches::Verdict::close)
        end_abuse();
}

// A flood is counted once: the connection ends.
void Http2Connection::on_flood() {
    if (!abusive_)
        ++loop_.counters.http2_glitches[static_cast<std::size_t>(observe::Http2Glitch::flood)];
    end_abuse();
}

// Tells the client to calm down (RFC 9113 section 10.5), and ends the connection.
void Http2Connection::end_abuse() noexcept {
    if (!std::exchange(abusive_, true))
        session_.terminate(Http2Error::enhance_your_calm);
}

void Http2Connection::on_acknowledged(Acknowledged what) {
    if (what == Acknowledged::settings)
        times_.settings_acknowledged();
    else if (drain_.announced())
        drain_.stop(session_);
    else
        on_glitch(observe::Http2Glitch::ping); // none was sent, or its time is over
}

std::size_t Http2Connection::bytes_to_send(
    Http2Stream& stream, std::size_t most, bool& last, std::string_view& trailer) {
    const Http2ResponseBody& body = stream.state.out;
    const std::size_t size = std::min(most, body.size());
    last = body.last() && size == body.size();
    trailer = body.trailer();
    return size;
}

Http2Events::Took
Http2Connection::send_data(Http2Stream& stream, std::string_view frame_head, std::size_t size) {
    if (stream.state.reset)
        return Took::never; // the bytes may be gone
    if (output_.blocked())
        return Took::nothing;
    const auto [copies, in_place] = stream.state.out.take(size);
    output_.add_copy(frame_head);
    output_.add_in_place(copies);
    output_.add_in_place(in_place);
    stream.state.progressed = true;
    look_at(stream);
    return Took::all;
}

void Http2Connection::on_response_end(Http2Stream& stream) {
    stream.state.out.set_done();
    stream.state.progressed = true;
    look_at(stream);
}

// --- the end ---

void Http2Connection::drain() noexcept {
    drain_.announce(session_);
    schedule();
    for (const Streams::Pointer& stream : streams_)
        if (stream->state.handler && !stream->state.told_gone) {
            if (loop_.totals.successor != nullptr)
                stream->state.handler->on_hand_over();
            stream->state.handler->on_drain();
        }
}

void Http2Connection::abort() noexcept {
    ended_ = true;
    schedule();
}

// Ends all streams: their handlers are told that the client has gone. Those that run a coroutine
// end with it.
void Http2Connection::end_streams() noexcept {
    ended_ = closing_ = true;
    times_.stop();
    for (const Streams::Pointer& stream : streams_) {
        stream->state.closed = true;
        stream->state.phase = Http2StreamState::Phase::begun;
        look_at(*stream);
    }
}

} // namespace stint::server
