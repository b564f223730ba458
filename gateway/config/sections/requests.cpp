// Reads max_body, of the whole configuration or of a route.
#include "config/sections/section_readers.hpp"
#include "config/values/bounds.hpp"
#include "config/values/values.hpp"

namespace stint::config {

namespace {

Parsed<std::size_t> parse_body_size(std::string_view text) {
    if (text == "0")
        return std::size_t{0};
    const auto size = parse_size(text, 1, largest_body);
    if (!size)
        return ParseError{size.error().why + ", 0 for none"};
    return *size;
}

Parsed<std::optional<std::uint64_t>> parse_max_body(std::string_view text) {
    return parse_or_off(text, std::optional<std::uint64_t>{}, parse_body_size);
}

} // namespace

void read_max_body(const Field& field, const Value& value, std::optional<std::uint64_t>& most) {
    value.into(most, field.expected, parse_max_body);
}

} // namespace stint::config
