// The JSON Schema of one key's value.
#pragma once

#include "config/fields/field.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace stint::config::json_schema_types {

using Json = nlohmann::ordered_json;

// Names of definitions beside those of sections, which have the section's path.
inline constexpr std::string_view any_duration = "duration"; // 1ms to 366d
inline constexpr std::string_view variable = "variable";     // a text with ${NAME}
// A limit of a route's own: with a `name`, which one in `limits` has as its key.
inline constexpr std::string_view named_limit = "limits.NAME";
inline constexpr std::string_view inline_limit = "routes[].limits[].own";

// Returns the schema of a value of this type. path: of its key, such as upstreams.NAME.queue.
[[nodiscard]] Json type_of(FieldType type, const std::string& path);
// Returns the definitions of any_duration and variable.
[[nodiscard]] Json definitions_of_types();

} // namespace stint::config::json_schema_types
