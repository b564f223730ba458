// Texts with placeholders in braces, as a configuration writes them.
#pragma once

#include "config/yaml/reader.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stint::config {

// Returns what is wrong with a text that has an unknown placeholder "{word}"; "" when nothing is: a
// misspelt one would be sent as it is. Other braces may be JSON.
[[nodiscard]] std::string
placeholder_fault(std::string_view text, std::span<const std::string_view> known);

// A text of at most `most` bytes with field_placeholders (base/text_template.hpp).
[[nodiscard]] Parsed<std::string> parse_answer_text(std::string_view text, std::size_t most);

// A field's value with them: printable ASCII.
[[nodiscard]] Parsed<std::string> parse_field_value(std::string_view text);

// A field's content type: printable ASCII with a slash.
[[nodiscard]] Parsed<std::string> parse_content_type(std::string_view text);

} // namespace stint::config
