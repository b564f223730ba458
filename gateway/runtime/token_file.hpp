// The token that a listener requires of its callers.
#pragma once

#include "base/error.hpp"

#include <string>

namespace stint::runtime {

// Returns the file's content without the white space around it. The error is one line for a person;
// an empty file is one.
[[nodiscard]] Result<std::string, std::string> read_token(const std::string& path);

} // namespace stint::runtime
