// Base64 (RFC 4648 section 4).
#pragma once

#include <string>
#include <string_view>

namespace stint {

// Returns the bytes in base64, with padding. Throws std::bad_alloc.
[[nodiscard]] std::string to_base64(std::string_view bytes);

} // namespace stint
