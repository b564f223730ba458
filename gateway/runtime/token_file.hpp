// Reads the bearer token that a listener requires of its callers.
#pragma once

#include "base/error.hpp"

#include <string>

namespace stint::runtime {

// Returns the file's content without surrounding white space. The error is one human-readable line;
// an empty file is an error.
[[nodiscard]] Result<std::string, std::string> read_token(const std::string& path);

} // namespace stint::runtime
