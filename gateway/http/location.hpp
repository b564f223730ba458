// Where a redirect leads, as a field's value.
#pragma once

#include "base/text_template.hpp"
#include "http/head_buffer.hpp"

namespace stint::http {

// Writes `to` with its placeholders. Whatever no URI may hold (RFC 3986 section 2) is percent-
// encoded. A target that begins as a path stays one: of slashes at the very beginning one is
// written, since "//evil.example" would name another host (RFC 3986 section 4.2).
void write_location(HeadBuffer& out, const TextTemplate& to, const PlaceholderValues& values);

} // namespace stint::http
