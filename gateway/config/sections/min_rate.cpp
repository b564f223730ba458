// The least rate at which a client must send.
#include "config/sections/section_readers.hpp"
#include "config/values/values.hpp"

#include <array>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 3> min_rate_keys{"head", "body", "after"};
constexpr std::string_view a_rate = "off or the bytes of a second such as 64B";
constexpr std::size_t fastest = std::size_t{1} << 30U;

Parsed<std::size_t> parse_rate(std::string_view text) {
    return parse_or_off(
        text, std::size_t{0}, [](std::string_view size) { return parse_size(size, 1, fastest); });
}

Parsed<bool> parse_off(std::string_view text) {
    if (text == "off")
        return true;
    return ParseError{in_quotes(text) + " is unknown; expected off or a map such as {head: 64B}"};
}

} // namespace

void read_min_rate(const Value& value, MinRate& rate) {
    if (value.is_scalar()) {
        if (value.as("off", parse_off))
            rate.head = rate.body = 0;
        return;
    }
    const auto section =
        Section::open(value, min_rate_keys, "off or a map such as {head: 64B, after: 10s}");
    if (!section)
        return;
    if (const auto head = section->find("head"))
        head->into(rate.head, a_rate, parse_rate);
    if (const auto body = section->find("body"))
        body->into(rate.body, a_rate, parse_rate);
    if (const auto after = section->find("after"))
        after->into(rate.after, "a duration such as 10s", parse_timeout);
}

} // namespace stint::config
