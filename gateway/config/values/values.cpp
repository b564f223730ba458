#include "config/values/values.hpp"

#include "config/values/unit_aliases.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace stint::config {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::string_view digits = "0123456789";
constexpr std::string_view duration_expected =
    "; expected a number with ms, s, m, h or d, from 1ms to 366d, such as 800ms";
constexpr nanoseconds shortest = milliseconds{1};
constexpr nanoseconds longest = std::chrono::days{366};

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<Unit, 5> duration_units{{
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
    {"d", 86'400'000'000'000},
}};

constexpr std::array<Unit, 6> size_units{{
    {"", 1},
    {"B", 1},
    {"KiB", 1U << 10U},
    {"MiB", 1U << 20U},
    {"GiB", 1U << 30U},
    {"TiB", std::uint64_t{1} << 40U},
}};

// The parts of a text such as "12.5ms", each empty if missing. rest: the text behind the number.
struct Number {
    bool negative = false;
    std::string_view whole;
    bool has_point = false;
    std::string_view decimals;
    std::string_view rest;
};

std::string_view take_digits(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_not_of(digits), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end);
    return taken;
}

Number split(std::string_view text) {
    Number number;
    if (text.starts_with('-')) {
        number.negative = true;
        text.remove_prefix(1);
    }
    number.whole = take_digits(text);
    if (!number.whole.empty() && text.starts_with('.')) {
        number.has_point = true;
        text.remove_prefix(1);
        number.decimals = take_digits(text);
    }
    number.rest = text;
    return number;
}

std::optional<std::uint64_t> to_integer(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
    const auto at = std::find_if(
        units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
    return at == units.end() ? nullptr : &*at;
}

bool is_all_zero(std::string_view text) {
    return text.find_first_not_of('0') == std::string_view::npos;
}

// Returns a * b, or nullopt if the product is above the limit.
std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
    if (b != 0 && a > limit / b)
        return std::nullopt;
    return a * b;
}

// Returns an error that does not depend on the number's unit, such as a negative number; "" if
// there is none.
std::string common_fault(std::string_view text, const Number& number) {
    if (number.whole.empty())
        return in_quotes(text) + " is not a number";
    if (number.negative)
        return in_quotes(text) + " is negative";
    if (number.has_point && number.decimals.empty())
        return in_quotes(text) + " ends in a point";
    if (number.whole.size() > 1 && number.whole.front() == '0')
        return in_quotes(text) + " begins with a zero";
    if (is_all_zero(number.whole) && is_all_zero(number.decimals))
        return in_quotes(text) + " is zero";
    return {};
}

std::string suggestion(std::string_view meant) {
    return " (did you mean " + in_quotes(meant) + "?)";
}

// Returns a text such as ` (did you mean "5m"?)` for "5 minutes" or "minute"; "" if the unit is
// known, or unknown everywhere.
std::string duration_hint(const Number& number) {
    if (number.negative || find_unit(duration_units, number.rest) != nullptr)
        return {};
    const std::string_view word = without_blanks(number.rest);
    const bool weeks = word == "w" || word == "week" || word == "weeks";
    const std::string_view unit = weeks ? "d" : usual_duration_unit(word);
    const auto whole = to_integer(number.whole.empty() ? "1" : number.whole);
    if (unit.empty() || !whole || *whole > 1'000'000)
        return {};
    std::string meant = std::to_string(weeks ? *whole * 7 : *whole);
    if (number.has_point && !weeks)
        meant += '.' + std::string{number.decimals};
    return suggestion(meant + std::string{unit});
}

} // namespace

Parsed<std::uint64_t> parse_count(std::string_view text, std::uint64_t low, std::uint64_t high) {
    const std::string expected =
        "; expected a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    const Number number = split(text);
    if (!number.rest.empty())
        return ParseError{in_quotes(text) + " is not a whole number" + expected};
    if (const std::string fault = common_fault(text, number); !fault.empty())
        return ParseError{fault + expected};
    if (number.has_point)
        return ParseError{in_quotes(text) + " is not a whole number" + expected};
    const auto value = to_integer(number.whole);
    if (!value || *value > high)
        return ParseError{in_quotes(text) + " is too large" + expected};
    if (*value < low)
        return ParseError{in_quotes(text) + " is too small" + expected};
    return *value;
}

Parsed<nanoseconds> parse_duration(std::string_view text, std::string_view also) {
    const Number number = split(text);
    const std::string expected =
        duration_hint(number) + std::string{duration_expected} + std::string{also};
    const auto wrong = [&](std::string_view what) {
        return ParseError{in_quotes(text) + std::string{what} + expected};
    };
    if (const std::string fault = common_fault(text, number); !fault.empty())
        return ParseError{fault + expected};
    const Unit* const unit = find_unit(duration_units, number.rest);
    if (number.rest.empty())
        return wrong(" has no unit");
    if (unit == nullptr)
        return wrong(" has no known unit");
    constexpr auto most = static_cast<std::uint64_t>(longest.count());
    const auto whole = to_integer(number.whole);
    const auto length = whole ? multiply(*whole, unit->factor, most) : std::nullopt;
    if (!length)
        return wrong(" is too long");
    std::uint64_t total = *length;
    std::uint64_t place = unit->factor;
    for (const char digit : number.decimals) {
        if (place % 10 != 0 && digit != '0')
            return wrong(" is finer than a nanosecond");
        place /= 10;
        total += place * static_cast<std::uint64_t>(digit - '0');
    }
    if (total > most)
        return wrong(" is too long");
    const nanoseconds duration{total};
    if (duration < shortest)
        return wrong(" is too short");
    return duration;
}

Parsed<milliseconds> parse_timeout(std::string_view text) {
    const auto exact = parse_duration(text);
    if (!exact)
        return exact.error();
    const auto rounded = std::chrono::floor<milliseconds>(*exact);
    if (rounded != *exact)
        return ParseError{
            in_quotes(text) + " is not a whole number of milliseconds" +
            std::string{duration_expected}};
    return rounded;
}

Parsed<std::size_t> parse_size(std::string_view text, std::size_t low, std::size_t high) {
    const auto shortest_form = [](std::size_t bytes) {
        if (bytes >= size_units.back().factor && bytes % size_units.back().factor == 0)
            return std::to_string(bytes / size_units.back().factor) + "TiB";
        return bytes % 1024 == 0 ? std::to_string(bytes / 1024) + "KiB" : std::to_string(bytes);
    };
    const std::string expected = "; expected " + shortest_form(low) + " to " + shortest_form(high) +
                                 ", a whole number of bytes or with B, KiB, MiB, GiB or TiB";
    const Number number = split(text);
    if (const std::string fault = common_fault(text, number); !fault.empty())
        return ParseError{fault + expected};
    if (number.has_point)
        return ParseError{in_quotes(text) + " is not a whole number" + expected};
    const Unit* const unit = find_unit(size_units, number.rest);
    if (unit == nullptr) {
        const std::string_view meant = usual_size_unit(without_blanks(number.rest));
        const std::string hint =
            meant.empty() ? "" : suggestion(std::string{number.whole} + std::string{meant});
        return ParseError{in_quotes(text) + " has no known unit" + hint + expected};
    }
    const auto whole = to_integer(number.whole);
    const auto bytes = whole ? multiply(*whole, unit->factor, high) : std::nullopt;
    if (!bytes)
        return ParseError{in_quotes(text) + " is too large" + expected};
    if (*bytes < low)
        return ParseError{in_quotes(text) + " is too small" + expected};
    return std::size_t{*bytes};
}

} // namespace stint::config
