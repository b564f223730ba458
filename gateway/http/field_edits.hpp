// Writes what a configuration sets in heads.
#pragma once

#include "base/field_edits.hpp"
#include "base/text_template.hpp"
#include "http/head_buffer.hpp"

#include <span>
#include <string_view>

namespace stint::http {

// For one head; refers to what outlives the write.
struct Shaping {
    const FieldEdits& edits;
    PlaceholderValues values;
};

// Whether a field of this name is removed or replaced, however the sender spelt it.
[[nodiscard]] bool drops(const FieldEdits& edits, std::string_view name) noexcept;

void write_set_fields(
    HeadBuffer& out, std::span<const FieldEdits::Set> fields, const PlaceholderValues& values);

} // namespace stint::http
