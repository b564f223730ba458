// Percent-decoding and the query's parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stint::http {

// Nothing where an escape is malformed or stands for NUL, which ends a text elsewhere.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

// For a segment of a path: all but unreserved characters are escaped (RFC 3986 section 2.3).
[[nodiscard]] std::string percent_encoded(std::string_view text);

// The value, not decoded, of the first parameter of this name ("key" in "a=1&key=2"): empty where
// it has none, nothing where there is no such parameter. "+" stands for itself.
[[nodiscard]] std::optional<std::string_view>
parameter(std::string_view query, std::string_view name) noexcept;

} // namespace stint::http
