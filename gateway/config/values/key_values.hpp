// Parses and formats the key sources of limits in a configuration.
#pragma once

#include "config/schema/schema.hpp"
#include "config/yaml/reader.hpp"

#include <string>
#include <string_view>

namespace stint::config {

// Parses a key source: client_ip, header:NAME, cookie:NAME, query:NAME, host, path, method, route,
// jwt:CLAIM, tls:subject or permit_key.
[[nodiscard]] Parsed<KeySource> parse_key_source(std::string_view text);

// Returns a key source as text for a configuration; header names in lower case.
[[nodiscard]] std::string to_text(const KeySource& source);

} // namespace stint::config
