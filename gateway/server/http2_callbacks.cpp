#include "server/http2_callbacks.hpp"

#include <algorithm>
#include <utility>

namespace stint::server {
namespace {

using observe::Http2Glitch;

std::string_view text(const std::uint8_t* bytes, std::size_t size) noexcept {
    return {reinterpret_cast<const char*>(bytes), size};
}

std::string_view text(nghttp2_rcbuf* bytes) noexcept {
    const nghttp2_vec view = nghttp2_rcbuf_get_buf(bytes);
    return text(view.base, view.len);
}

bool is_request_head(const nghttp2_frame& frame) noexcept {
    return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

bool ends_stream(const nghttp2_frame& frame) noexcept {
    return (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

// True if a reset with this code answers a mistake of the client, unless it is one of
// own_refusals_. The gateway resets with the others itself.
bool blames_client(std::uint32_t code) noexcept {
    return code != NGHTTP2_NO_ERROR && code != NGHTTP2_INTERNAL_ERROR && code != NGHTTP2_CANCEL;
}

// A client may send so many of these frames beside those that its requests explain.
constexpr std::uint64_t few_priorities = 20;
constexpr std::uint64_t few_window_updates = 100;
// One for so many bytes of DATA sent. Clients give back what they have read: 4 KiB at a time, or
// each small read, to the stream and to the connection.
constexpr std::uint64_t bytes_for_update = 512;

// A DATA frame of fewer bytes, cut by the client's window, is tiny. It explains no further
// WINDOW_UPDATE unless others do: a client that gives back the window of each frame at once has
// rests of windows that go round as tiny frames, up to one for each other frame.
constexpr std::size_t least_cut = 128;
constexpr std::uint32_t tiny_for_each = 4;
constexpr std::uint32_t most_tiny = 400; // kept for later

// A client that stops sends two of them (RFC 9113 section 6.8).
constexpr std::uint32_t few_goaways = 2;

// The last stream that will be served, in the GOAWAY that announces another one.
constexpr std::int32_t every_stream = 0x7fffffff;

} // namespace

int Http2Session::Callbacks::on_begin_frame(
    nghttp2_session* session, const nghttp2_frame_hd* head, void* user) {
    Http2Session& me = self(user);
    const bool goes_on = head->type == NGHTTP2_CONTINUATION;
    me.in_head_ = me.in_head_ && goes_on;
    if (me.in_head_)
        me.useless_.use(head->length);
    // nghttp2 drops heads of streams that are closed, or that come after a GOAWAY, without a word.
    const bool dropped = !goes_on && std::exchange(me.head_unclaimed_, false);
    me.head_unclaimed_ = me.head_unclaimed_ || head->type == NGHTTP2_HEADERS;
    return guarded([&] {
        if (dropped)
            me.events_.on_glitch(Http2Glitch::late_stream);
        // nghttp2 does not look at priorities of RFC 7540, and must here (RFC 9113 section 6.3).
        if (head->type == NGHTTP2_PRIORITY && head->stream_id == 0)
            return nghttp2_session_terminate_session(session, NGHTTP2_PROTOCOL_ERROR);
        if (head->type == NGHTTP2_PRIORITY || head->type == NGHTTP2_PRIORITY_UPDATE)
            note_priority(me);
        else if (head->type == NGHTTP2_WINDOW_UPDATE) // also for streams that are closed
            note_window_update(me);
        else if (head->type == NGHTTP2_GOAWAY && ++me.goaways_ > few_goaways)
            me.events_.on_glitch(Http2Glitch::goaway);
        else if (head->type > NGHTTP2_CONTINUATION)
            me.events_.on_glitch(Http2Glitch::unknown_frame);
        return 0;
    });
}

void Http2Session::Callbacks::note_priority(Http2Session& me) {
    if (++me.priorities_ > few_priorities + 2 * me.requests_)
        me.events_.on_glitch(Http2Glitch::priority);
}

void Http2Session::Callbacks::note_window_update(Http2Session& me) {
    if (++me.window_updates_ > few_window_updates + 2 * (me.data_frames_sent_ + me.requests_) +
                                   me.data_bytes_sent_ / bytes_for_update)
        me.events_.on_glitch(Http2Glitch::window_update);
}

void Http2Session::Callbacks::note_data_sent(Http2Session& me, std::size_t size) noexcept {
    if (!me.tiny_)
        me.tiny_explained_ = std::min(me.tiny_explained_ + tiny_for_each, most_tiny);
    else if (me.tiny_explained_ == 0)
        return;
    else
        --me.tiny_explained_;
    ++me.data_frames_sent_;
    me.data_bytes_sent_ += size;
}

int Http2Session::Callbacks::on_begin_headers(
    nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Http2Session& me = self(user);
    me.head_unclaimed_ = false;
    me.in_head_ = true;
    me.useless_.use(frame->hd.length);
    if (!is_request_head(*frame))
        return 0;
    return guarded([&] {
        ++me.requests_;
        Http2Stream* const stream = me.events_.on_request_begun(frame->hd.stream_id);
        me.in_head_ = stream != nullptr;
        if (stream == nullptr)
            return nghttp2_submit_rst_stream(
                session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
        return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
    });
}

int Http2Session::Callbacks::add_field(
    nghttp2_session* session,
    const nghttp2_frame& frame,
    std::string_view name,
    std::string_view value,
    bool valid,
    void* user) {
    Http2Stream* const stream = stream_of(session, frame.hd.stream_id);
    if (stream == nullptr)
        return 0;
    return guarded([&] {
        if (self(user).events_.on_field(*stream, name, value, valid))
            return 0;
        self(user).in_head_ = false;
        return static_cast<int>(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE);
    });
}

int Http2Session::Callbacks::on_header(
    nghttp2_session* session,
    const nghttp2_frame* frame,
    nghttp2_rcbuf* name,
    nghttp2_rcbuf* value,
    std::uint8_t,
    void* user) {
    return add_field(session, *frame, text(name), text(value), true, user);
}

int Http2Session::Callbacks::on_invalid_header(
    nghttp2_session* session,
    const nghttp2_frame* frame,
    nghttp2_rcbuf* name,
    nghttp2_rcbuf* value,
    std::uint8_t,
    void* user) {
    return add_field(session, *frame, text(name), text(value), false, user);
}

// True if the stream has ended before, or was refused. A client gives up an upload whose response
// has ended (RFC 9113 section 8.1).
bool Http2Session::Callbacks::is_late_reset(Http2Session& me, std::int32_t id) noexcept {
    return stream_of(me.session_.get(), id) == nullptr;
}

// Counts the frames that a client has no reason to send often.
void Http2Session::Callbacks::on_control(Http2Session& me, const nghttp2_frame& frame) {
    const bool acknowledges = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
    switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
        me.in_head_ = false;
        return;
    case NGHTTP2_DATA:
        if (frame.hd.length == frame.data.padlen && !ends_stream(frame))
            me.events_.on_glitch(Http2Glitch::empty_data);
        return;
    case NGHTTP2_RST_STREAM:
        if (is_late_reset(me, frame.hd.stream_id) && ++me.late_resets_ <= me.requests_)
            return;
        return me.events_.on_glitch(Http2Glitch::reset_received);
    case NGHTTP2_PING:
        return acknowledges ? me.events_.on_acknowledged(Http2Events::Acknowledged::ping)
                            : me.events_.on_glitch(Http2Glitch::ping);
    case NGHTTP2_SETTINGS:
        if (acknowledges)
            return me.events_.on_acknowledged(Http2Events::Acknowledged::settings);
        if (++me.settings_ > 1)
            me.events_.on_glitch(Http2Glitch::settings);
        return;
    default:
        return;
    }
}

int Http2Session::Callbacks::on_frame(
    nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    return guarded([&] {
        on_control(self(user), *frame);
        if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
            return 0;
        Http2Stream* const stream = stream_of(session, frame->hd.stream_id);
        if (stream == nullptr)
            return 0;
        if (is_request_head(*frame))
            self(user).events_.on_head(*stream, ends_stream(*frame));
        else if (ends_stream(*frame))
            self(user).events_.on_request_end(*stream);
        return 0;
    });
}

int Http2Session::Callbacks::on_data(
    nghttp2_session* session,
    std::uint8_t,
    std::int32_t id,
    const std::uint8_t* bytes,
    std::size_t size,
    void* user) {
    return guarded([&] {
        self(user).useless_.use(size);
        if (Http2Stream* const stream = stream_of(session, id))
            self(user).events_.on_data(*stream, {reinterpret_cast<const char*>(bytes), size});
        else
            nghttp2_session_consume_connection(session, size);
        return 0;
    });
}

int Http2Session::Callbacks::on_closed(
    nghttp2_session* session, std::int32_t id, std::uint32_t error, void* user) {
    return guarded([&] {
        if (Http2Stream* const stream = stream_of(session, id))
            self(user).events_.on_stream_closed(*stream, error != NGHTTP2_NO_ERROR);
        return 0;
    });
}

void Http2Session::Callbacks::note_reset(Http2Session& me, std::uint32_t code) {
    const bool own = code == NGHTTP2_REFUSED_STREAM && me.own_refusals_ > 0;
    if (own)
        --me.own_refusals_;
    if (blames_client(code) && !own)
        me.events_.on_glitch(Http2Glitch::reset_sent);
    else
        me.useless_.excuse(me.stream_window_);
}

int Http2Session::Callbacks::on_frame_sent(
    nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    return guarded([&] {
        const bool of_response =
            frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
        if (of_response && ends_stream(*frame))
            if (Http2Stream* const stream = stream_of(session, frame->hd.stream_id))
                self(user).events_.on_response_end(*stream);
        if (frame->hd.type == NGHTTP2_RST_STREAM)
            note_reset(self(user), frame->rst_stream.error_code);
        // Submitted together with the GOAWAY, the PING would be sent before it.
        if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.last_stream_id == every_stream)
            return nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, nullptr);
        return 0;
    });
}

// A mistake on a stream resets it, and is counted then.
int Http2Session::Callbacks::on_invalid_frame(
    nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
    self(user).in_head_ = false;
    if (frame->hd.stream_id != 0)
        return 0;
    return guarded([&] {
        self(user).events_.on_glitch(Http2Glitch::invalid_frame);
        return 0;
    });
}

ssize_t Http2Session::Callbacks::read_body(
    nghttp2_session* session,
    std::int32_t id,
    std::uint8_t*,
    std::size_t most,
    std::uint32_t* flags,
    nghttp2_data_source* source,
    void* user) {
    bool last = false;
    std::string_view trailer;
    std::size_t size = 0;
    const int failed = guarded([&] {
        auto& stream = *static_cast<Http2Stream*>(source->ptr);
        size = self(user).events_.bytes_to_send(stream, most, last, trailer);
        return last && !trailer.empty() ? submit_trailer(session, id, trailer) : 0;
    });
    if (failed != 0)
        return failed;
    if (size == 0 && !last)
        return NGHTTP2_ERR_DEFERRED;
    self(user).tiny_ = size == most && size < least_cut;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (last)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (last && !trailer.empty())
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return static_cast<ssize_t>(size);
}

int Http2Session::Callbacks::submit_trailer(
    nghttp2_session* session, std::int32_t id, std::string_view lines) {
    std::vector<http::Http2Field> fields;
    http::fields_of_trailer(lines, fields);
    const std::vector<nghttp2_nv> made = pairs(fields);
    return nghttp2_submit_trailer(session, id, made.data(), made.size());
}

int Http2Session::Callbacks::send_data(
    nghttp2_session*,
    nghttp2_frame*,
    const std::uint8_t* head,
    std::size_t size,
    nghttp2_data_source* source,
    void* user) {
    constexpr std::size_t frame_head = 9;
    return guarded([&] {
        auto& stream = *static_cast<Http2Stream*>(source->ptr);
        const auto took = self(user).events_.send_data(stream, text(head, frame_head), size);
        if (took == Http2Events::Took::nothing)
            return static_cast<int>(NGHTTP2_ERR_WOULDBLOCK);
        if (took == Http2Events::Took::never)
            return static_cast<int>(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE);
        note_data_sent(self(user), size);
        self(user).useless_.use(size);
        return 0;
    });
}

} // namespace stint::server
