// 64 bits as hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stint::http {

inline constexpr std::size_t hex_digits = 16; // digits of 64 bits

// Writes sixteen lower-case digits to `out`.
inline void write_hex(char* out, std::uint64_t value) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::size_t i = hex_digits; i-- > 0; value >>= 4)
        out[i] = digits[value & 15U];
}

// Parses sixteen lower-case digits. Returns nothing for any other text.
[[nodiscard]] inline std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept {
    if (text.size() != hex_digits)
        return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        const bool decimal = c >= '0' && c <= '9';
        if (!decimal && (c < 'a' || c > 'f'))
            return std::nullopt;
        value = value << 4 | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
    }
    return value;
}

} // namespace stint::http
