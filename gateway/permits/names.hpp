// Names of limits and locks, as they stand in a path.
#pragma once

#include "base/error.hpp"
#include "http/head_error.hpp"

#include <string>
#include <string_view>

namespace stint::permits {

// Decodes a name of 1 to longest_name bytes of UTF-8, without NUL; the error is for the caller.
[[nodiscard]] Result<std::string, http::HeadError> read_limit_name(std::string_view segment);
// The same, without any control character (RFC 20).
[[nodiscard]] Result<std::string, http::HeadError> read_lock_name(std::string_view segment);

} // namespace stint::permits
