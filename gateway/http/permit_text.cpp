#include "http/permit_text.hpp"

#include "http/hex.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::http {

namespace {

constexpr std::string_view permit_prefix = "p_";
constexpr std::string_view lease_prefix = "l_";

std::string text_of(std::string_view prefix, Hash128 id) {
    std::string text{prefix};
    text.resize(prefix.size() + 2 * hex_digits);
    write_hex(text.data() + prefix.size(), id.high);
    write_hex(text.data() + prefix.size() + hex_digits, id.low);
    return text;
}

std::optional<Hash128> parse(std::string_view prefix, std::string_view text) noexcept {
    if (text.size() != prefix.size() + 2 * hex_digits || !text.starts_with(prefix))
        return std::nullopt;
    text.remove_prefix(prefix.size());
    const auto high = parse_hex(text.substr(0, hex_digits));
    const auto low = parse_hex(text.substr(hex_digits));
    return high && low ? std::optional{Hash128{*high, *low}} : std::nullopt;
}

} // namespace

std::string permit_text(Hash128 id) {
    return text_of(permit_prefix, id);
}

std::optional<Hash128> parse_permit(std::string_view text) noexcept {
    return parse(permit_prefix, text);
}

std::string lease_text(Hash128 id) {
    return text_of(lease_prefix, id);
}

std::optional<Hash128> parse_lease(std::string_view text) noexcept {
    return parse(lease_prefix, text);
}

std::optional<Hash128> shown_permit(std::span<const Field> fields) noexcept {
    const auto is_permit = [](const Field& field) { return field.id == FieldId::x_stint_permit; };
    const auto shown = std::ranges::find_if(fields, is_permit);
    if (shown == fields.end() || std::any_of(shown + 1, fields.end(), is_permit))
        return std::nullopt;
    return parse_permit(shown->value);
}

} // namespace stint::http
