#include "http/permit_text.hpp"

#include "http/hex.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::http {

namespace {

constexpr std::string_view prefix = "p_";
constexpr std::size_t text_size = prefix.size() + 2 * hex_digits;

} // namespace

std::string permit_text(Hash128 id) {
    std::string text{prefix};
    text.resize(text_size);
    write_hex(text.data() + prefix.size(), id.high);
    write_hex(text.data() + prefix.size() + hex_digits, id.low);
    return text;
}

std::optional<Hash128> parse_permit(std::string_view text) noexcept {
    if (text.size() != text_size || !text.starts_with(prefix))
        return std::nullopt;
    text.remove_prefix(prefix.size());
    const auto high = parse_hex(text.substr(0, hex_digits));
    const auto low = parse_hex(text.substr(hex_digits));
    return high && low ? std::optional{Hash128{*high, *low}} : std::nullopt;
}

std::optional<Hash128> shown_permit(std::span<const Field> fields) noexcept {
    const auto is_permit = [](const Field& field) { return field.id == FieldId::x_stint_permit; };
    const auto shown = std::ranges::find_if(fields, is_permit);
    if (shown == fields.end() || std::any_of(shown + 1, fields.end(), is_permit))
        return std::nullopt;
    return parse_permit(shown->value);
}

} // namespace stint::http
