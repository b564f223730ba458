// Kinds of protocol abuse on HTTP/2 connections.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::observe {

enum class Http2Glitch : std::uint8_t {
    reset_received, // the client has cancelled a request
    reset_sent,     // a stream was reset for a mistake of the client
    late_stream,    // a head for a stream that is closed, or after the last GOAWAY
    header_list,    // more fields, or larger ones, than max_fields and max_head allow
    invalid_frame,  // a frame of the connection itself that breaks the protocol
    empty_data,     // DATA without bytes, or of padding alone, that does not end a body
    ping,           // a PING that asks for an answer, or an answer to none
    settings,       // SETTINGS after the first ones
    priority,       // PRIORITY beyond a few for each request
    window_update,  // WINDOW_UPDATE beyond two for each request and each DATA frame sent
    goaway,         // GOAWAY after the second
    unknown_frame,  // a frame of an unknown type
    flood,          // too many unread answers, requests alive or CONTINUATION: the end
    last = flood
};

inline constexpr std::size_t http2_glitch_kinds = static_cast<std::size_t>(Http2Glitch::last) + 1;

// The label `kind`, by Http2Glitch.
inline constexpr std::array<std::string_view, http2_glitch_kinds> http2_glitch_names{
    "reset_received", "reset_sent",    "late_stream", "header_list", "invalid_frame",
    "empty_data",     "ping",          "settings",    "priority",    "window_update",
    "goaway",         "unknown_frame", "flood"};

} // namespace stint::observe
