// Which header fields a route may set or remove in the heads that it forwards or sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::config {

// Kinds of heads to edit. Each kind has its own set of fields that must not be set or removed.
enum class EditedHead : std::uint8_t { request, response, answer };

inline constexpr std::size_t most_edits = 64; // maximum of fields to set, and of fields to remove

// Returns a header's name as servers may read it: in lower case, with "-" for "_".
[[nodiscard]] std::string field_key(std::string_view name);

// Returns why a field must not be set or removed in such heads, to be written behind its name; ""
// if it may be. The field that names the client is no matter of this function: it depends on the
// configuration.
[[nodiscard]] std::string edit_fault(std::string_view name, EditedHead head);

} // namespace stint::config
