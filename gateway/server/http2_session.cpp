#include "server/http2_session.hpp"

#include "server/http2_callbacks.hpp"

#include <array>
#include <new>
#include <nghttp2/nghttp2.h>

namespace stint::server {
namespace {

nghttp2_nv pair(const http::Http2Field& field) noexcept {
    const auto bytes = [](std::string_view from) {
        return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(from.data()));
    };
    return {
        bytes(field.name), bytes(field.value), field.name.size(), field.value.size(),
        static_cast<std::uint8_t>(field.unique ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)};
}

std::size_t bytes_of(const std::vector<http::Http2Field>& fields) noexcept {
    std::size_t total = 0;
    for (const http::Http2Field& field : fields)
        total += field.name.size() + field.value.size();
    return total;
}

// One for all sessions, which copy it.
nghttp2_session_callbacks* make_callbacks() {
    using Callbacks = Http2Session::Callbacks;
    nghttp2_session_callbacks* made = nullptr;
    if (nghttp2_session_callbacks_new(&made) != 0)
        throw std::bad_alloc{};
    nghttp2_session_callbacks_set_on_begin_frame_callback(made, Callbacks::on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, Callbacks::on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(made, Callbacks::on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(made, Callbacks::on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::on_closed);
    nghttp2_session_callbacks_set_on_frame_send_callback(made, Callbacks::on_frame_sent);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, Callbacks::on_invalid_frame);
    nghttp2_session_callbacks_set_send_data_callback(made, Callbacks::send_data);
    nghttp2_session_callbacks_set_unpack_extension_callback(made, Callbacks::drop_extension);
    return made;
}

nghttp2_option* make_options() {
    nghttp2_option* made = nullptr;
    if (nghttp2_option_new(&made) != 0)
        throw std::bad_alloc{};
    nghttp2_option_set_no_auto_window_update(made, 1);
    nghttp2_option_set_no_closed_streams(made, 1);
    nghttp2_option_set_max_outbound_ack(made, 100);
    nghttp2_option_set_max_settings(made, 8);
    nghttp2_option_set_max_continuations(made, 4);
    // nghttp2 would withhold a longer head without a word. It is asked for an upper bound, which
    // adds 12 bytes for each field to a head of at most 64 KiB and what the gateway adds.
    nghttp2_option_set_max_send_header_block_length(made, 1'048'576);
    // nghttp2 reports frames of unknown types only if their types are listed.
    for (unsigned type = NGHTTP2_CONTINUATION + 1; type <= 0xff; ++type)
        nghttp2_option_set_user_recv_extension_type(made, static_cast<std::uint8_t>(type));
    return made;
}

} // namespace

std::vector<nghttp2_nv> pairs(const std::vector<http::Http2Field>& fields) {
    std::vector<nghttp2_nv> made;
    made.reserve(fields.size());
    for (const http::Http2Field& field : fields)
        made.push_back(pair(field));
    return made;
}

void Http2Session::Delete::operator()(nghttp2_session* session) const noexcept {
    nghttp2_session_del(session);
}

Http2Session::Http2Session(Http2Events& events, const Http2SessionSettings& settings)
    : events_{events}, stream_window_{settings.stream_window} {
    static nghttp2_session_callbacks* const callbacks = make_callbacks();
    static nghttp2_option* const options = make_options();
    nghttp2_session* made = nullptr;
    if (nghttp2_session_server_new2(&made, callbacks, this, options) != 0)
        throw std::bad_alloc{};
    session_.reset(made);
    const std::array<nghttp2_settings_entry, 5> told{
        {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.max_streams},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.stream_window},
         {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings.max_header_list},
         {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
         {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}}};
    const std::size_t count = told.size() - (settings.connect_protocol ? 0 : 1);
    if (nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, told.data(), count) != 0 ||
        nghttp2_session_set_local_window_size(
            made, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(settings.connection_window)) != 0)
        throw std::bad_alloc{};
}

Http2Session::~Http2Session() = default;

bool Http2Session::feed(std::span<const char> bytes) noexcept {
    useless_.receive(bytes.size());
    frames_.take(bytes);
    const ssize_t taken = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    flooded_ = taken == NGHTTP2_ERR_FLOODED || taken == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS;
    return taken == static_cast<ssize_t>(bytes.size());
}

std::string_view Http2Session::next_frames() noexcept {
    const std::uint8_t* frames = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &frames);
    if (size <= 0)
        return {};
    return {reinterpret_cast<const char*>(frames), static_cast<std::size_t>(size)};
}

bool Http2Session::done() const noexcept {
    return nghttp2_session_want_read(session_.get()) == 0 &&
           nghttp2_session_want_write(session_.get()) == 0;
}

bool Http2Session::submit_interim(std::int32_t id, const std::vector<http::Http2Field>& fields) {
    const std::vector<nghttp2_nv> made = pairs(fields);
    return nghttp2_submit_headers(
               session_.get(), NGHTTP2_FLAG_NONE, id, nullptr, made.data(), made.size(), nullptr) ==
           0;
}

bool Http2Session::submit_response(
    std::int32_t id, const std::vector<http::Http2Field>& fields, bool has_body) {
    useless_.use(bytes_of(fields));
    const std::vector<nghttp2_nv> made = pairs(fields);
    nghttp2_data_provider body{};
    body.source.ptr = Callbacks::stream_of(session_.get(), id);
    body.read_callback = Callbacks::read_body;
    return nghttp2_submit_response(
               session_.get(), id, made.data(), made.size(), has_body ? &body : nullptr) == 0;
}

void Http2Session::resume(std::int32_t id) noexcept {
    nghttp2_session_resume_data(session_.get(), id);
}

void Http2Session::reset(std::int32_t id, Http2Error error) noexcept {
    const int failed = nghttp2_submit_rst_stream(
        session_.get(), NGHTTP2_FLAG_NONE, id, static_cast<std::uint32_t>(error));
    if (failed == 0 && error == Http2Error::refused_stream)
        ++own_refusals_;
}

void Http2Session::consume_stream(std::int32_t id, std::size_t bytes) noexcept {
    nghttp2_session_consume_stream(session_.get(), id, bytes);
}

void Http2Session::consume_connection(std::size_t bytes) noexcept {
    nghttp2_session_consume_connection(session_.get(), bytes);
}

void Http2Session::announce_shutdown() noexcept {
    nghttp2_submit_shutdown_notice(session_.get()); // once it is sent, on_frame_sent() pings
}

void Http2Session::shut_down() noexcept {
    nghttp2_submit_goaway(
        session_.get(), NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_.get()),
        NGHTTP2_NO_ERROR, nullptr, 0);
}

void Http2Session::terminate(Http2Error error) noexcept {
    nghttp2_session_terminate_session(session_.get(), static_cast<std::uint32_t>(error));
}

} // namespace stint::server
