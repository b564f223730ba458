// The first line of a response. Internal to the code that writes heads.
#pragma once

#include "http/head_buffer.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace stint::http {

// The status codes from 100 to 999 as text, each with a space behind it.
inline constexpr auto status_codes = [] {
    std::array<std::array<char, 4>, 900> codes{};
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const auto digit = [code = i + 100](std::size_t unit) {
            return static_cast<char>('0' + code / unit % 10);
        };
        codes[i] = {digit(100), digit(10), digit(1), ' '};
    }
    return codes;
}();

// Writes "HTTP/1.1 429 Too Many Requests" and CRLF. status: from 100 to 999.
inline void write_status_line(HeadBuffer& out, int status, std::string_view reason) {
    const std::array<char, 4>& code = status_codes[static_cast<std::size_t>(status - 100)];
    out.add("HTTP/1.1 ", std::string_view{code.data(), code.size()}, reason, "\r\n");
}

} // namespace stint::http
