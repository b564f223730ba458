// The callbacks by which nghttp2 tells an Http2Session what has come. Internal to that class.
#pragma once

#include "server/http2_session.hpp"

#include <exception>
#include <nghttp2/nghttp2.h>
#include <string_view>
#include <vector>

namespace stint::server {

// Converts fields for nghttp2, which copies them and their bytes. Throws std::bad_alloc.
[[nodiscard]] std::vector<nghttp2_nv> pairs(const std::vector<http::Http2Field>& fields);

// No exception may pass through nghttp2, which is written in C: a failed callback ends the session.
struct Http2Session::Callbacks {
    static Http2Session& self(void* user) noexcept { return *static_cast<Http2Session*>(user); }

    template <class Call>
    static int guarded(Call call) noexcept {
        try {
            return call();
        } catch (const std::exception&) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }

    static Http2Stream* stream_of(nghttp2_session* session, std::int32_t id) noexcept {
        return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
    }

    static int on_begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user);
    static int on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user);
    static int on_header(
        nghttp2_session* session,
        const nghttp2_frame* frame,
        nghttp2_rcbuf* name,
        nghttp2_rcbuf* value,
        std::uint8_t flags,
        void* user);
    static int on_invalid_header(
        nghttp2_session* session,
        const nghttp2_frame* frame,
        nghttp2_rcbuf* name,
        nghttp2_rcbuf* value,
        std::uint8_t flags,
        void* user);
    static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user);
    static int on_data(
        nghttp2_session* session,
        std::uint8_t flags,
        std::int32_t id,
        const std::uint8_t* bytes,
        std::size_t size,
        void* user);
    static int
    on_closed(nghttp2_session* session, std::int32_t id, std::uint32_t error, void* user);
    static int on_frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user);
    static int on_invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int, void* user);
    static ssize_t read_body(
        nghttp2_session* session,
        std::int32_t id,
        std::uint8_t* into,
        std::size_t most,
        std::uint32_t* flags,
        nghttp2_data_source* source,
        void* user);
    static int send_data(
        nghttp2_session*,
        nghttp2_frame*,
        const std::uint8_t* head,
        std::size_t size,
        nghttp2_data_source* source,
        void* user);
    static int drop_extension(nghttp2_session*, void**, const nghttp2_frame_hd*, void*) {
        return NGHTTP2_ERR_CANCEL;
    }

  private:
    static int add_field(
        nghttp2_session* session,
        const nghttp2_frame& frame,
        std::string_view name,
        std::string_view value,
        bool valid,
        void* user);
    static void note_priority(Http2Session& me);
    static void note_window_update(Http2Session& me);
    static bool is_late_reset(Http2Session& me, std::int32_t id) noexcept;
    static void note_data_sent(Http2Session& me, std::size_t size) noexcept;
    static void note_reset(Http2Session& me, std::uint32_t code);
    static void on_control(Http2Session& me, const nghttp2_frame& frame);
    static int submit_trailer(nghttp2_session* session, std::int32_t id, std::string_view lines);
};

} // namespace stint::server
