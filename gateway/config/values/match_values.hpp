// Parsers of hosts, paths, methods and header names in route matches. They accept only the spelling
// to which requests are normalised, so that a pattern which could never match is reported as an
// error.
#pragma once

#include "config/yaml/reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::config {

// Returns the text with ASCII letters in lower case.
[[nodiscard]] std::string lower(std::string_view text);

// Returns true if the text is a token (RFC 9110 section 5.6.2): a valid name of a field, method or
// cookie.
[[nodiscard]] bool is_token(std::string_view text);

// Parses the host of a match: "*", "*.suffix" or an exact host; lower case, without a port.
[[nodiscard]] Parsed<std::string> parse_host_pattern(std::string_view text);

// The use of a path. pattern: matched against requests, so it must not contain spellings that are
// refused in requests because servers read them differently (http/target.hpp). other: may contain
// such spellings, for example a path that is sent upstream.
enum class PathUse : std::uint8_t { pattern, other };

// Parse a path in normal form (RFC 3986 section 6.2.2): parse_path() for matching,
// parse_sent_path() for a path to send upstream.
[[nodiscard]] Parsed<std::string> parse_path(std::string_view text);
[[nodiscard]] Parsed<std::string> parse_sent_path(std::string_view text);

// Returns the error in the character or percent-escape at the beginning of the text; "" if it is
// valid.
[[nodiscard]] std::string character_fault(std::string_view text, PathUse use);

// Parses a method's name (RFC 9110 section 9.1); lower-case letters are an error.
[[nodiscard]] Parsed<std::string> parse_method(std::string_view text);

// Parses `header:NAME` and returns the name in lower case.
[[nodiscard]] Parsed<std::string> parse_log_field(std::string_view text);

// Parses a Host value to send: HOST or HOST:port.
[[nodiscard]] Parsed<std::string> parse_host_field(std::string_view text);

} // namespace stint::config
