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

// Returns true if a header field's value in the configuration file contains no secret: after
// "Basic ", "Bearer " or "Token " it has only environment variables without defaults and
// field_placeholders. written: the value as in the file, if it has variables, else "". filled_in:
// the value with the variables replaced by their values.
[[nodiscard]] bool shows_no_secret(std::string_view written, std::string_view filled_in);

// Parses the target of a redirect with target_placeholders: a path, or http:// or https:// and a
// host; at most 2 KiB.
[[nodiscard]] Parsed<std::string> parse_redirect_target(std::string_view text);

// Parses a content type: printable ASCII with a slash.
[[nodiscard]] Parsed<std::string> parse_content_type(std::string_view text);

} // namespace stint::config
