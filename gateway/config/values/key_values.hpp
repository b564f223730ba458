// Key sources of limits, as a configuration writes them.
#pragma once

#include "config/schema/schema.hpp"
#include "config/yaml/reader.hpp"

#include <string>
#include <string_view>

namespace stint::config {

// client_ip, header:NAME, cookie:NAME, query:NAME, host, path, method, route, jwt:CLAIM or
// tls:subject.
[[nodiscard]] Parsed<KeySource> parse_key_source(std::string_view text);

// The same as text; the name of a header in lower case.
[[nodiscard]] std::string to_text(const KeySource& source);

} // namespace stint::config
