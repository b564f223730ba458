// Finds one member of a JSON object (RFC 8259), or of an object in it, without parsing it into
// values, and without allocation. Strict: a text that is not exactly one well-formed object has no
// members. Internal to routing/.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace stint::routing {

// The position of a value in the text: of a decoded string, or of a number or boolean as written.
// Size 0: there is no such member, or its value is null, an object, an array or an empty string.
struct JsonValue {
    std::size_t begin = 0;
    std::size_t size = 0;
};

// Finds the member `name` at the object's top level. If the object has none and the name has a dot,
// finds the rest of the name in the object that the part before the first dot names, by the same
// rule: "a.b" is the member "a.b", else the member "b" of the object "a". Finds nothing if a name
// on the way occurs twice in its object. A string with escapes is decoded in place, so this may
// change `text`. Objects and arrays may nest 64 deep.
[[nodiscard]] JsonValue json_member(std::span<char> text, std::string_view name) noexcept;

} // namespace stint::routing
