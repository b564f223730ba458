// How many more hops an OPTIONS or TRACE request may take (RFC 9110 section 7.6.2).
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"

#include <cstdint>
#include <optional>

namespace stint::http {

// What Max-Forwards of an OPTIONS or TRACE request says; nothing for other methods, for which the
// field means nothing, and where it is absent. At 0 the request is not to be forwarded. Refuses
// (400) what is no number, and more than one field.
[[nodiscard]] Result<std::optional<std::uint64_t>, HeadError>
max_forwards(const RequestHead& head) noexcept;

} // namespace stint::http
