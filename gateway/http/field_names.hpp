// Field names that Boost.Beast's table lacks, and names that imitate others.
#pragma once

#include "base/message.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// Compare names as a server does that reads "_" as "-", such as a CGI server (RFC 3875 section
// 4.1.18), and ignore case. reads_as() returns true if both names are equal in this way,
// begins_as() if `name` begins with `prefix` in this way.
[[nodiscard]] bool reads_as(std::string_view name, std::string_view other) noexcept;
[[nodiscard]] bool begins_as(std::string_view name, std::string_view prefix) noexcept;

// Returns the id of a name that Boost.Beast's table lacks; FieldId::other if the gateway has none
// for it.
[[nodiscard]] FieldId unlisted_field(std::string_view name) noexcept;

// True if the gateway writes or filters the field itself. A Connection field cannot remove such a
// field. name: the name of a field whose id is FieldId::other or underscored.
[[nodiscard]] bool is_own_field(std::string_view name) noexcept;

// True if a server that reads "_" as "-" takes `name` for a field that the gateway removes, writes
// or uses for framing, or for one of `also`. also: names in lower case.
[[nodiscard]] bool imitates(std::string_view name, std::span<const std::string> also) noexcept;

} // namespace stint::http
