#include "redis/resp/numbers.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace stint::redis {
namespace {

constexpr std::string_view digits = "0123456789";

// The whole text as a number; from_chars knows "-" and no "+".
template <class Number>
std::optional<Number> whole(std::string_view text) noexcept {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stopped != end)
        return std::nullopt;
    return number;
}

// Drops a "+". "+-1" is left as it is, and is no number.
std::string_view without_plus(std::string_view text) noexcept {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-')
        text.remove_prefix(1);
    return text;
}

} // namespace

std::optional<std::size_t> parse_length(std::string_view text) noexcept {
    return whole<std::size_t>(text); // unsigned: takes no sign
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
    return whole<std::int64_t>(without_plus(text));
}

std::optional<double> parse_real(std::string_view text) noexcept {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "inf" || text == "-inf")
        return text.front() == '-' ? -infinity : infinity;
    if (text == "nan" || text == "-nan")
        return std::numeric_limits<double>::quiet_NaN();
    if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos)
        return std::nullopt;
    return whole<double>(without_plus(text));
}

bool is_decimal(std::string_view text) noexcept {
    if (!text.empty() && (text.front() == '+' || text.front() == '-'))
        text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

} // namespace stint::redis
