// Names of fields that Beast's table lacks, and names that imitate others.
#pragma once

#include "base/message.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// True where a server that reads "_" as "-" (as CGI servers do, RFC 3875 section 4.1.18) takes both
// for one name; begins_as: where it takes the beginning of `name` for `prefix`.
[[nodiscard]] bool reads_as(std::string_view name, std::string_view other) noexcept;
[[nodiscard]] bool begins_as(std::string_view name, std::string_view prefix) noexcept;

// Of a name that is none of Beast's.
[[nodiscard]] FieldId unlisted_field(std::string_view name) noexcept;

// True for a field that the gateway writes itself or filters: a Connection field that names it is
// ignored. name: of FieldId::other or underscored.
[[nodiscard]] bool is_own_field(std::string_view name) noexcept;

// True where such a server takes `name` for a field that the gateway removes, writes or frames by,
// or for one of `also`. also: in lower case.
[[nodiscard]] bool imitates(std::string_view name, std::span<const std::string> also) noexcept;

} // namespace stint::http
