#include "config/values/text_check.hpp"

#include <algorithm>
#include <cstdint>

namespace stint::config {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::uint8_t byte_at(std::string_view text, std::size_t i) noexcept {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0;
}

bool within(std::uint8_t byte, std::uint8_t low, std::uint8_t high) noexcept {
    return byte >= low && byte <= high;
}

// Returns the length of the well-formed UTF-8 character at i, or 0 if it is not well-formed
// (Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t character_length(std::string_view text, std::size_t i) noexcept {
    const std::uint8_t first = byte_at(text, i);
    const std::uint8_t second = byte_at(text, i + 1);
    const auto continues = [&](std::size_t n) { return within(byte_at(text, i + n), 0x80, 0xBF); };
    if (first < 0x80)
        return 1;
    if (within(first, 0xC2, 0xDF))
        return continues(1) ? 2 : 0;
    if (within(first, 0xE0, 0xEF)) {
        const std::uint8_t low = first == 0xE0 ? 0xA0 : 0x80;
        const std::uint8_t high = first == 0xED ? 0x9F : 0xBF;
        return within(second, low, high) && continues(2) ? 3 : 0;
    }
    if (within(first, 0xF0, 0xF4)) {
        const std::uint8_t low = first == 0xF0 ? 0x90 : 0x80;
        const std::uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
        return within(second, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

// Returns true for a control character that a configuration must not contain: any but tab, line
// feed and CR LF. yaml-cpp, for example, would take 0x04 for the end of the file.
bool is_control(std::string_view text, std::size_t i) noexcept {
    const std::uint8_t byte = byte_at(text, i);
    if (byte == '\r')
        return byte_at(text, i + 1) != '\n';
    return byte == 0x7F || (byte < 0x20 && byte != '\t' && byte != '\n');
}

std::string hex(std::uint8_t byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

std::string describe(std::uint8_t byte) {
    if (byte >= 0x80)
        return "byte " + hex(byte) + " is not valid UTF-8; save the file as UTF-8";
    if (byte == 0)
        return "a NUL byte; a configuration is plain UTF-8 text";
    if (byte == '\r')
        return "a carriage return without a line feed; end lines with LF or CRLF";
    return "control character " + hex(byte) + "; a configuration is plain UTF-8 text";
}

} // namespace

std::string checked_text(std::string_view bytes, Diagnostics& report) {
    if (bytes.starts_with(byte_order_mark)) {
        report.add({1, 1}, "a byte order mark; save the file as UTF-8 without one");
        bytes.remove_prefix(byte_order_mark.size());
    }
    std::string text{bytes};
    Positions positions{text}; // bad bytes before i are replaced, so each counts as one column
    std::size_t reported_line = 0;
    for (std::size_t i = 0; i < bytes.size();) {
        const std::size_t length = is_control(bytes, i) ? 0 : character_length(bytes, i);
        if (length > 0) {
            i += length;
            continue;
        }
        const Mark at = positions.at(i);
        if (at.line != reported_line)
            report.add(at, describe(byte_at(bytes, i)));
        reported_line = at.line;
        text[i] = '_';
        ++i;
    }
    return text;
}

Positions::Positions(std::string_view text) : text_(text), line_starts_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n')
            line_starts_.push_back(i + 1);
    }
}

Mark Positions::at(std::size_t offset) {
    offset = std::min(offset, text_.size());
    const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    const auto line = static_cast<std::size_t>(after - line_starts_.begin());
    if (line != mark_.line || offset < offset_) {
        mark_ = {line, 1};
        offset_ = line_starts_[line - 1];
    }
    for (; offset_ < offset; ++offset_) {
        if ((byte_at(text_, offset_) & 0xC0) != 0x80)
            ++mark_.column;
    }
    return mark_;
}

} // namespace stint::config
