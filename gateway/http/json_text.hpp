// Writes text as the inside of a JSON string (RFC 8259 section 7). The result is valid JSON for any
// bytes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace stint::http {

inline constexpr auto plain_json = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = ' '; c < 0x7f; ++c)
        plain[c] = c != '"' && c != '\\';
    return plain;
}();

// True if a byte needs no escape in a JSON string: printable ASCII but '"' and '\\'.
[[nodiscard]] constexpr bool is_plain_json(char c) noexcept {
    return plain_json[static_cast<unsigned char>(c)];
}

// Returns the length of the UTF-8 sequence that `text` begins with (RFC 3629), 0 if there is none.
[[nodiscard]] std::size_t utf8_sequence(std::string_view text) noexcept;

// Returns the escape that a byte below 0x80 must have in a string, or an empty view.
[[nodiscard]] std::string_view json_escape(char c) noexcept;

// Appends `text`, escaped, to `out` piece by piece; bytes that are not UTF-8 become U+FFFD.
template <class Out>
void write_json_text(Out& out, std::string_view text) {
    std::size_t plain = 0; // bytes at the front of `text` that need no change
    while (plain < text.size()) {
        if (is_plain_json(text[plain])) [[likely]] {
            ++plain;
            continue;
        }
        const std::size_t sequence = utf8_sequence(text.substr(plain));
        const std::string_view instead = sequence == 0   ? "\\ufffd"
                                         : sequence == 1 ? json_escape(text[plain])
                                                         : std::string_view{};
        if (instead.empty()) {
            plain += sequence;
            continue;
        }
        out << text.substr(0, plain) << instead;
        text.remove_prefix(plain + 1);
        plain = 0;
    }
    out << text;
}

} // namespace stint::http
