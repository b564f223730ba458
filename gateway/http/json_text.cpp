#include "http/json_text.hpp"

#include <array>

namespace stint::http {

namespace {

using Escape = std::array<char, 6>;

// The escapes of the control characters, \u0000 to \u001f.
constexpr auto control_escapes = [] {
    std::array<Escape, 0x20> escapes{};
    for (std::size_t c = 0; c < escapes.size(); ++c)
        escapes[c] = {'\\', 'u', '0', '0', "01"[c / 16], "0123456789abcdef"[c % 16]};
    return escapes;
}();

} // namespace

std::size_t utf8_sequence(std::string_view text) noexcept {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80)
        return 1;
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size)
        return 0;
    // The second byte's range excludes overlong forms, surrogates and what is above U+10FFFF.
    const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high)
        return 0;
    for (std::size_t i = 2; i < size; ++i)
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
    return size;
}

std::string_view json_escape(char c) noexcept {
    if (c == '"')
        return "\\\"";
    if (c == '\\')
        return "\\\\";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= control_escapes.size())
        return {};
    return {control_escapes[byte].data(), control_escapes[byte].size()};
}

} // namespace stint::http
