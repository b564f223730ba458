// The first line of a response. Internal to the code that writes heads.
#pragma once

#include "http/head_buffer.hpp"

#include <array>
#include <string_view>

namespace stint::http {

// Writes "HTTP/1.1 429 Too Many Requests" and CRLF. status: of three digits.
inline void write_status_line(HeadBuffer& out, int status, std::string_view reason) {
    const auto digit = [status](int unit) { return static_cast<char>('0' + status / unit % 10); };
    const std::array<char, 3> code{digit(100), digit(10), digit(1)};
    out.add("HTTP/1.1 ", std::string_view{code.data(), code.size()}, " ", reason, "\r\n");
}

} // namespace stint::http
