// The pieces that HTTP/1.1 messages are read from, by the fuzzers' own readers.
#pragma once

#include "strict_http.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::fuzz {

inline constexpr std::string_view end_of_line = "\r\n";

[[nodiscard]] bool is_number(std::string_view text); // 1*DIGIT
[[nodiscard]] bool is_token(std::string_view text);
[[nodiscard]] bool is_field_text(std::string_view text); // no control characters but HTAB
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Cuts off what comes before `mark`, and the mark; nothing, and leaves `text`, without one.
[[nodiscard]] std::optional<std::string_view> cut(std::string_view& text, std::string_view mark);

// 1*DIGIT of at most 64 bits.
[[nodiscard]] std::optional<std::uint64_t> length_of(std::string_view text);

enum class Read : std::uint8_t { whole, cut, malformed };

// Takes the body that message.framing says off the front of `bytes`, its payload into message.body.
// strict: chunks as the gateway writes them, without extensions and in lower case.
[[nodiscard]] Read read_body(std::string_view& bytes, Message& message, bool strict);

} // namespace stint::fuzz
