// Generates docs/configuration-reference.md from the tables of all keys.
#pragma once

#include "config/fields/field.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// The keys of one section, for the reference page.
struct SectionReference {
    struct Key {
        Field field;
        std::string otherwise;  // the default, as in a file or in words; empty if required
        bool has_value = false; // true if `otherwise` is a value for a file, false if words
    };
    std::string_view path;                // such as upstreams.NAME.queue; empty for the top level
    std::vector<std::string_view> others; // paths of sections with the same keys
    std::vector<Key> keys;
};

// Returns all sections in the order of the page.
[[nodiscard]] std::vector<SectionReference> reference();

// Returns a type and its bounds in words: "number, 1 to 1024, or auto".
[[nodiscard]] std::string type_text(const FieldType& type);

// Returns the whole page as Markdown.
[[nodiscard]] std::string reference_page();

} // namespace stint::config
