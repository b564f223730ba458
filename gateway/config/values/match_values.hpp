// Parsers of what a route matches: each takes the one spelling that requests are normalised to, so
// that a pattern which could never match is a mistake in the configuration.
#pragma once

#include "config/yaml/reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::config {

// ASCII only.
[[nodiscard]] std::string lower(std::string_view text);

// True if the text can name a field, method or cookie (RFC 9110 section 5.6.2).
[[nodiscard]] bool is_token(std::string_view text);

// "*", "*.suffix" or an exact host; lower case, no port.
[[nodiscard]] Parsed<std::string> parse_host_pattern(std::string_view text);

// A pattern must be able to take requests: it has none of the spellings that servers read in
// several ways (http/target.hpp). Other paths, such as those that are sent, may have them.
enum class PathUse : std::uint8_t { pattern, other };

// A path in normal form (RFC 3986 section 6.2.2): a pattern; one that is sent.
[[nodiscard]] Parsed<std::string> parse_path(std::string_view text);
[[nodiscard]] Parsed<std::string> parse_sent_path(std::string_view text);

// Returns what is wrong with the character or escape at the beginning of the text; "" when nothing
// is.
[[nodiscard]] std::string character_fault(std::string_view text, PathUse use);

// A method's name (RFC 9110 section 9.1), without lower-case letters.
[[nodiscard]] Parsed<std::string> parse_method(std::string_view text);

// `header:NAME` to the name in lower case.
[[nodiscard]] Parsed<std::string> parse_log_field(std::string_view text);

// Parses a Host value to send: HOST or HOST:port.
[[nodiscard]] Parsed<std::string> parse_host_field(std::string_view text);

} // namespace stint::config
