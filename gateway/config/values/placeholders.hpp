// Parses texts with placeholders in braces in a configuration.
#pragma once

#include "config/yaml/reader.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stint::config {

// Returns an error if the text has an unknown placeholder "{word}", which would be sent literally;
// else "". Other braces are allowed, because the text may be JSON.
[[nodiscard]] std::string
placeholder_fault(std::string_view text, std::span<const std::string_view> known);

// Parses a text of at most `most` bytes with field_placeholders (base/text_template.hpp).
[[nodiscard]] Parsed<std::string> parse_answer_text(std::string_view text, std::size_t most);

// Parses a header field's value with field_placeholders: printable ASCII.
[[nodiscard]] Parsed<std::string> parse_field_value(std::string_view text);

// Returns true if a header field's value shows no secret in the file: it consists of variables of
// the environment without defaults and of field_placeholders, behind at most one of "Basic ",
// "Bearer " and "Token ". written: the value with its variables, "" if it has none; filled_in:
// without them.
[[nodiscard]] bool shows_no_secret(std::string_view written, std::string_view filled_in);

// Parses a content type: printable ASCII with a slash.
[[nodiscard]] Parsed<std::string> parse_content_type(std::string_view text);

} // namespace stint::config
