// Tables of all keys for people: docs/configuration-reference.md.
#pragma once

#include "config/fields/field.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// A section's keys.
struct SectionReference {
    struct Key {
        Field field;
        std::string otherwise;  // the default as a file has it, or in words; empty: required
        bool has_value = false; // `otherwise` is a value that a file may have
    };
    std::string_view path; // such as upstreams.NAME.queue; empty: the top level
    std::vector<Key> keys;
};

// All sections, in the order of the page.
[[nodiscard]] std::vector<SectionReference> reference();

// The type and its bounds in words: "number, 1 to 1024, or auto".
[[nodiscard]] std::string type_text(const FieldType& type);

// The page, as Markdown.
[[nodiscard]] std::string reference_page();

} // namespace stint::config
