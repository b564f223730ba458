#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace stint::import_nginx {

namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_name_character(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::optional<std::uint64_t> times(std::uint64_t number, std::uint64_t factor) {
    if (number > std::numeric_limits<std::uint64_t>::max() / factor)
        return std::nullopt;
    return number * factor;
}

constexpr std::uint64_t day_ms = 86'400'000;

// Milliseconds in a unit of nginx; 0 for another word. A month has 30 days, a year 365.
std::uint64_t unit_ms(std::string_view unit) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 9> units{{
        {"", 1000},
        {"ms", 1},
        {"s", 1000},
        {"m", 60'000},
        {"h", 3'600'000},
        {"d", day_ms},
        {"w", 7 * day_ms},
        {"M", 30 * day_ms},
        {"y", 365 * day_ms},
    }};
    const auto* const found =
        std::ranges::find(units, unit, &std::pair<std::string_view, std::uint64_t>::first);
    return found == units.end() ? 0 : found->second;
}

} // namespace

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

std::optional<std::chrono::milliseconds> time_of(std::string_view text) {
    constexpr std::uint64_t most = 366 * day_ms;
    std::uint64_t sum = 0;
    if (text.empty())
        return std::nullopt;
    while (!text.empty()) {
        const std::size_t digits = std::min(
            static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin()),
            text.size());
        const auto number = number_of(text.substr(0, digits));
        text.remove_prefix(digits);
        const std::size_t letters = std::min(text.find_first_of("0123456789 "), text.size());
        const std::uint64_t unit = unit_ms(text.substr(0, letters));
        text.remove_prefix(letters);
        while (text.starts_with(' '))
            text.remove_prefix(1);
        const auto part = number && unit != 0 ? times(*number, unit) : std::nullopt;
        if (!part || *part > most || sum + *part > most)
            return std::nullopt;
        sum += *part;
    }
    return std::chrono::milliseconds{sum};
}

std::optional<std::uint64_t> size_of(std::string_view text) {
    std::uint64_t factor = 1;
    if (!text.empty()) {
        const char unit = static_cast<char>(text.back() | 0x20);
        factor = unit == 'k' ? 1U << 10U : unit == 'm' ? 1U << 20U : unit == 'g' ? 1U << 30U : 1U;
    }
    if (factor != 1)
        text.remove_suffix(1);
    const auto number = number_of(text);
    return number ? times(*number, factor) : std::nullopt;
}

std::optional<Rate> rate_of(std::string_view text) {
    const bool per_minute = text.ends_with("r/m");
    if (!per_minute && !text.ends_with("r/s"))
        return std::nullopt;
    const auto number = number_of(text.substr(0, text.size() - 3));
    if (!number || *number == 0)
        return std::nullopt;
    return Rate{*number, per_minute};
}

std::vector<Piece> pieces_of(std::string_view text) {
    std::vector<Piece> pieces;
    const auto add_literal = [&pieces](std::string_view literal) {
        if (pieces.empty() || pieces.back().variable)
            pieces.push_back({});
        pieces.back().text += literal;
    };
    while (!text.empty()) {
        const bool braces = text.starts_with("${");
        const std::size_t begin = braces ? 2 : 1;
        std::size_t end = begin;
        while (text.front() == '$' && end < text.size() && is_name_character(text[end]))
            ++end;
        const bool closed = !braces || (end < text.size() && text[end] == '}');
        if (end == begin || !closed) {
            add_literal(text.substr(0, 1));
            text.remove_prefix(1);
            continue;
        }
        pieces.push_back({true, std::string{text.substr(begin, end - begin)}});
        text.remove_prefix(end + (braces ? 1 : 0));
    }
    return pieces;
}

bool has_variables(std::string_view text) {
    return std::ranges::any_of(pieces_of(text), &Piece::variable);
}

std::optional<std::string_view> option(std::string_view argument, std::string_view name) {
    if (!argument.starts_with(name) || argument.size() <= name.size() ||
        argument[name.size()] != '=')
        return std::nullopt;
    return argument.substr(name.size() + 1);
}

} // namespace stint::import_nginx
