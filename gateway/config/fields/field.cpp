#include "config/fields/field.hpp"

#include "config/fields/kinds.hpp"
#include "config/fields/units.hpp"

namespace stint::config {

std::string length_text(std::uint64_t ms) {
    struct Unit {
        std::string_view name;
        std::uint64_t ms;
        std::uint64_t fewest;
    };
    for (const Unit& unit :
         {Unit{"d", 86'400'000, 2}, Unit{"h", 3'600'000, 1}, Unit{"m", 60'000, 2},
          Unit{"s", 1'000, 1}})
        if (ms >= unit.ms * unit.fewest && ms % unit.ms == 0)
            return std::to_string(ms / unit.ms).append(unit.name);
    return std::to_string(ms).append("ms");
}

std::string duration_text(std::chrono::nanoseconds length) {
    const auto ms = std::chrono::floor<milliseconds>(length);
    const auto rest = static_cast<std::uint64_t>((length - ms).count());
    if (rest == 0)
        return length_text(static_cast<std::uint64_t>(ms.count()));
    constexpr std::size_t places = 6; // a millisecond has a million nanoseconds
    std::string decimals = std::to_string(rest);
    decimals.insert(0, places - decimals.size(), '0');
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return std::to_string(ms.count()).append(".").append(decimals).append("ms");
}

std::string size_text(std::uint64_t bytes) {
    if (bytes == 0)
        return "0";
    struct Unit {
        std::string_view name;
        std::uint64_t bytes;
    };
    for (const Unit& unit :
         {Unit{"TiB", std::uint64_t{1} << 40U}, Unit{"GiB", 1U << 30U}, Unit{"MiB", 1U << 20U},
          Unit{"KiB", 1U << 10U}})
        if (bytes >= unit.bytes && bytes % unit.bytes == 0)
            return std::to_string(bytes / unit.bytes).append(unit.name);
    return std::to_string(bytes).append("B");
}

Parsed<std::uint64_t> number_of_type(std::string_view text, const FieldType& type) {
    if (!type.zero.empty() && text == type.zero)
        return std::uint64_t{0};
    auto number = parse_count(text, type.low, type.high);
    if (!number && !type.zero.empty())
        return ParseError{std::string{number.error().why}.append(", or ").append(type.zero)};
    return number;
}

Parsed<std::size_t> size_of_type(std::string_view text, const FieldType& type) {
    if (!type.zero.empty() && text == type.zero)
        return std::size_t{0};
    auto size = parse_size(text, type.low, type.high);
    if (!size && !type.zero.empty())
        return ParseError{std::string{size.error().why}.append(", or ").append(type.zero)};
    return size;
}

Parsed<milliseconds> duration_of_type(std::string_view text, const FieldType& type) {
    if (!type.zero.empty() && text == type.zero)
        return milliseconds{0};
    auto length = parse_timeout(text);
    if (!length)
        return type.zero.empty()
                   ? length
                   : ParseError{std::string{length.error().why}.append(", or ").append(type.zero)};
    const auto ms = static_cast<std::uint64_t>((*length).count());
    if (ms >= type.low && ms <= type.high)
        return length;
    const std::string most = length_text(type.high);
    return ParseError{
        in_quotes(text) + " is out of range; expected " +
        (type.low > 1 ? length_text(type.low).append(" to ").append(most) : "at most " + most)};
}

} // namespace stint::config
