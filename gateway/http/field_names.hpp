// Names of fields that Beast's table lacks, and names that imitate others.
#pragma once

#include "base/message.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// True if a server that reads "_" as "-" (as CGI servers do, RFC 3875 section 4.1.18) takes both
// for one name. begins_as: if it takes the beginning of `name` for `prefix`.
[[nodiscard]] bool reads_as(std::string_view name, std::string_view other) noexcept;
[[nodiscard]] bool begins_as(std::string_view name, std::string_view prefix) noexcept;

// Returns the id for a name that Beast's table lacks.
[[nodiscard]] FieldId unlisted_field(std::string_view name) noexcept;

// True if the gateway writes or filters this field itself: a Connection field that names it is
// ignored. name: of FieldId::other or underscored.
[[nodiscard]] bool is_own_field(std::string_view name) noexcept;

// True if a server that reads "_" as "-" takes `name` for a field that the gateway removes, writes
// or frames by, or for one of `also`. also: in lower case.
[[nodiscard]] bool imitates(std::string_view name, std::span<const std::string> also) noexcept;

} // namespace stint::http
