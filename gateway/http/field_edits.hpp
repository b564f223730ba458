// Writes the header fields that a configuration sets.
#pragma once

#include "base/field_edits.hpp"
#include "base/text_template.hpp"
#include "http/head_buffer.hpp"

#include <span>
#include <string_view>

namespace stint::http {

// The configuration's edits of one head's fields. The edits and the values must outlive the write.
struct Shaping {
    const FieldEdits& edits;
    PlaceholderValues values;
};

// True if the configuration removes or replaces a field of this name. Ignores case, and reads "_"
// as "-".
[[nodiscard]] bool drops(const FieldEdits& edits, std::string_view name) noexcept;

void write_set_fields(
    HeadBuffer& out, std::span<const FieldEdits::Set> fields, const PlaceholderValues& values);

} // namespace stint::http
