#include "http/field_edits.hpp"

#include "http/ascii.hpp"

#include <algorithm>

namespace stint::http {

bool drops(const FieldEdits& edits, std::string_view name) noexcept {
    return std::ranges::any_of(edits.dropped, [name](const std::string& dropped) {
        return std::ranges::equal(
            name, dropped, {}, [](char c) { return c == '_' ? '-' : ascii::lower(c); });
    });
}

// Writes no control characters: neither the configuration's texts nor the values of placeholders
// contain any.
void write_set_fields(
    HeadBuffer& out, std::span<const FieldEdits::Set> fields, const PlaceholderValues& values) {
    for (const FieldEdits::Set& set : fields) {
        out << std::string_view{set.name} << ": ";
        set.value.write(out, values);
        out << "\r\n";
    }
}

} // namespace stint::http
