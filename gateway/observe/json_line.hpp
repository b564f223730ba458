// Text as JSON, written by hand: a line of the access log costs well under a microsecond.
#pragma once

#include "base/time.hpp"

#include <string>
#include <string_view>

namespace stint::observe {

// Appends `text` as a quoted JSON string. The result is valid UTF-8 whatever the bytes are: each
// maximal part of an ill-formed sequence becomes U+FFFD (Unicode 15, section 3.9, "best practice").
void append_json_string(std::string& out, std::string_view text);

// Appends RFC 3339 in UTC with milliseconds (rounded down), unquoted: 2024-05-01T08:09:10.123Z.
void append_rfc3339(std::string& out, WallTime time);

} // namespace stint::observe
