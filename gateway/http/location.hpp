// Writes the value of a redirect's Location field.
#pragma once

#include "base/text_template.hpp"
#include "http/head_buffer.hpp"

namespace stint::http {

// Writes `to` with its placeholders filled in. Bytes that no URI may hold (RFC 3986 section 2) are
// percent-encoded. A target that begins with "/" stays a path: leading slashes are reduced to one,
// since "//evil.example" would name another host (RFC 3986 section 4.2).
void write_location(HeadBuffer& out, const TextTemplate& to, const PlaceholderValues& values);

} // namespace stint::http
