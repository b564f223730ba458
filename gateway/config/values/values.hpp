// Parses numbers, durations, sizes and names in a configuration. Each error names the fault of the
// text and the expected value.
#pragma once

#include "config/yaml/reader.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stint::config {

// Parses a whole decimal number from low to high. Requires low >= 1.
[[nodiscard]] Parsed<std::uint64_t>
parse_count(std::string_view text, std::uint64_t low, std::uint64_t high);

// Parses a duration from 1ms to 366d: a number, which may have decimals, and a unit (ms, s, m, h or
// d). Exact to the nanosecond. also: other values that the key may have, for the error, such as
// ", or day".
[[nodiscard]] Parsed<std::chrono::nanoseconds>
parse_duration(std::string_view text, std::string_view also = {});

// Parses a duration in whole milliseconds.
[[nodiscard]] Parsed<std::chrono::milliseconds> parse_timeout(std::string_view text);

// Parses a size in bytes: a whole number, alone or with B, KiB, MiB, GiB or TiB.
[[nodiscard]] Parsed<std::size_t>
parse_size(std::string_view text, std::size_t low, std::size_t high);

// Parses the word "off", for which it returns the value `off`, or a text that parse(text) accepts.
template <class T, class Parse>
[[nodiscard]] Parsed<T> parse_or_off(std::string_view text, T off, Parse parse) {
    if (text == "off")
        return off;
    const auto value = parse(text);
    if (!value)
        return ParseError{value.error().why + ", or off"};
    return T{*value};
}

// Parses "true" or "false".
[[nodiscard]] Parsed<bool> parse_bool(std::string_view text);

// Parses one of the words.
[[nodiscard]] Parsed<std::string>
parse_word(std::string_view text, std::span<const std::string_view> words);

// Parses "on" or "off". a_map: an example of the map that may stand instead, for the error.
[[nodiscard]] Parsed<bool> parse_switch(std::string_view text, std::string_view a_map);

// Parses the name of a route, upstream or limit: [A-Za-z0-9_.-]{1,64}.
[[nodiscard]] Parsed<std::string> parse_name(std::string_view text);

inline constexpr std::size_t longest_name = 64;

} // namespace stint::config
