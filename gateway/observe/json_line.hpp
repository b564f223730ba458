// Hand-written JSON output for the access log, because a line must cost well under a microsecond.
#pragma once

#include "base/time.hpp"

#include <string>
#include <string_view>

namespace stint::observe {

// Appends `text` as a quoted JSON string. The result is valid UTF-8 whatever the bytes are: each
// maximal part of an ill-formed sequence becomes U+FFFD (Unicode 15, section 3.9, "best practice").
// Control characters and marks of the writing direction are escaped.
void append_json_string(std::string& out, std::string_view text);

// Appends a time in RFC 3339 form, in UTC, with milliseconds rounded down, without quotes:
// 2024-05-01T08:09:10.123Z.
void append_rfc3339(std::string& out, WallTime time);

} // namespace stint::observe
