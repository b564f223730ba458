// A client of HTTP/2 that sends frame by frame, and the gateway that it talks to.
#pragma once

#include "fixture.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::test {

enum Type : char {
    data = 0,
    headers = 1,
    rst_stream = 3,
    settings = 4,
    goaway = 7,
    continuation = 9
};
inline constexpr char end_stream = 1;
inline constexpr char end_headers = 4;

inline std::string frame(Type type, int flags, int stream, std::string_view payload) {
    std::string bytes{
        '\0', '\0', static_cast<char>(payload.size()), type, static_cast<char>(flags), '\0',
        '\0', '\0', static_cast<char>(stream)};
    return bytes.append(payload);
}

// ":method: GET, :scheme: http, :path: /, :authority: a" in HPACK.
inline constexpr std::string_view get_fields = "\x82\x86\x84\x01\x01"
                                               "a";

inline std::string request(int stream) {
    return frame(headers, end_headers | end_stream, stream, get_fields);
}

// A request whose body is to come.
inline std::string upload(int stream) {
    return frame(headers, end_headers, stream, get_fields);
}

// These lines, and the route to the upstream.
inline std::string with(std::string_view lines) {
    return std::string{lines} + "\n" + std::string{plain};
}

// A gateway whose listener takes HTTP/2, and a client that has begun with it.
struct Http2 {
    explicit Http2(std::string_view yaml, bool half_close = false, const Http2Bounds& bounds = {})
        : gateway{
              yaml,
              {.half_close_allowed = half_close, .http2_prior_knowledge = true, .http2 = bounds}} {
        client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, 0, 0, ""));
        client.send(frame(settings, 1, 0, ""));
    }

    InProcessGateway gateway;
    Wire client = gateway.connect();
};

} // namespace stint::test
