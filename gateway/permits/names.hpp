// Names of limits and locks in a request's path.
#pragma once

#include "base/error.hpp"
#include "http/head_error.hpp"

#include <string>
#include <string_view>

namespace stint::permits {

// Percent-decodes a limit's name: 1 to longest_name bytes of UTF-8, without NUL. The error is the
// reply to the client.
[[nodiscard]] Result<std::string, http::HeadError> read_limit_name(std::string_view segment);
// Percent-decodes a lock's name: as read_limit_name(), but without any control character (RFC 20).
[[nodiscard]] Result<std::string, http::HeadError> read_lock_name(std::string_view segment);

} // namespace stint::permits
