// Numbers as the Redis protocol writes them. Strict: no white space, nothing behind the number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stint::redis {

// Parses a length or a count: digits alone.
[[nodiscard]] std::optional<std::size_t> parse_length(std::string_view text) noexcept;

// Parses an integer, with or without a sign.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

// Parses a decimal number with or without fraction and exponent, "inf", "-inf", "nan" or "-nan".
[[nodiscard]] std::optional<double> parse_real(std::string_view text) noexcept;

// True for at least one digit, behind a sign or none.
[[nodiscard]] bool is_decimal(std::string_view text) noexcept;

} // namespace stint::redis
