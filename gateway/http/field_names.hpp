// Names of fields that Beast's table lacks, and names that imitate others.
#pragma once

#include "base/message.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// Whether a server that reads "_" as "-" (RFC 3875 section 4.1.18, and what came of it) takes both
// for one name; and whether it takes the name's beginning for `prefix`.
[[nodiscard]] bool reads_as(std::string_view name, std::string_view other) noexcept;
[[nodiscard]] bool begins_as(std::string_view name, std::string_view prefix) noexcept;

// Of a name that is none of Beast's.
[[nodiscard]] FieldId unlisted_field(std::string_view name) noexcept;

// Whether the gateway writes this field itself, or keeps it from being told what it is not: nobody
// may name it away in Connection. name: of FieldId::other or underscored.
[[nodiscard]] bool is_own_field(std::string_view name) noexcept;

// Whether such a server takes `name` for one of the fields that the gateway strips, writes or
// frames by, or for another of `also`. also: in lower case.
[[nodiscard]] bool imitates(std::string_view name, std::span<const std::string> also) noexcept;

} // namespace stint::http
