// Reads min_rate: the minimum rate at which a client must send.
#include "config/fields/shared_rows.hpp"

#include <array>

namespace stint::config {

namespace {

constexpr std::string_view a_rate = "off or the bytes of a second such as 64B";
constexpr std::size_t fastest = std::size_t{1} << 30U;

Parsed<bool> parse_off(std::string_view text) {
    if (text == "off")
        return true;
    return ParseError{in_quotes(text) + " is unknown; expected off or a map such as {head: 64B}"};
}

using RateRow = Fields<MinRate>;
constexpr std::array min_rate_table{
    RateRow::size<&MinRate::head>(
        {.key = "head",
         .about = "Bytes a second of a head, on average since its first byte. A slower client gets "
                  "408 and is closed.",
         .expected = a_rate},
        1,
        fastest,
        "off"),
    RateRow::size<&MinRate::body>(
        {.key = "body",
         .about = "Bytes a second of a request's body, over the time that Stint has waited for it. "
                  "A slower client gets 408 and is closed.",
         .expected = a_rate},
        1,
        fastest,
        "off"),
    RateRow::duration<&MinRate::after>(
        {.key = "after",
         .about = "The time before either is checked.",
         .expected = "a duration such as 10s"}),
};

} // namespace

Table<MinRate> min_rate_fields() {
    return min_rate_table;
}

void read_min_rate(const Value& value, MinRate& rate, LoadState& loading) {
    if (value.is_scalar()) {
        if (value.as("off", parse_off))
            rate.head = rate.body = 0;
        return;
    }
    const auto section =
        open_section(value, min_rate_fields(), "off or a map such as {head: 64B, after: 10s}");
    if (section)
        read_fields(*section, min_rate_fields(), rate, loading);
}

} // namespace stint::config
