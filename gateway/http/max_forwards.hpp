// Reads how many more hops an OPTIONS or TRACE request may take (RFC 9110 section 7.6.2).
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stint::http {

// Returns Max-Forwards of an OPTIONS or TRACE request; nothing if it is absent, and for other
// methods, where the field has no meaning. Refuses (400) a value that is no number, and more than
// one field.
[[nodiscard]] Result<std::optional<std::uint64_t>, HeadError>
read_max_forwards(std::string_view method, std::span<const Field> fields) noexcept;

} // namespace stint::http
