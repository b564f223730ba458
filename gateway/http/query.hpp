// Percent-decoding and the query's parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stint::http {

// Decodes %XX escapes. Returns nothing if an escape is malformed or stands for NUL, which would end
// a C string.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

// Encodes text for a path segment: all but unreserved characters are escaped (RFC 3986 section
// 2.3).
[[nodiscard]] std::string percent_encoded(std::string_view text);

// Returns the value, not decoded, of the first parameter of this name ("key" in "a=1&key=2").
// Returns an empty value if the parameter has none, and nothing if there is no such parameter. "+"
// stands for itself.
[[nodiscard]] std::optional<std::string_view>
parameter(std::string_view query, std::string_view name) noexcept;

} // namespace stint::http
