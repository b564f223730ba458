#include "http/structured_list.hpp"

#include "http/ascii.hpp"

#include <charconv>
#include <cstddef>

namespace stint::http {

namespace {

constexpr ascii::CharSet base64{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="};
constexpr ascii::CharSet key_start{"abcdefghijklmnopqrstuvwxyz*"};
constexpr ascii::CharSet key_rest{"abcdefghijklmnopqrstuvwxyz0123456789_-.*"};
constexpr ascii::CharSet letter{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"};

std::string_view take(std::string_view& text, std::size_t size) noexcept {
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(taken.size());
    return taken;
}

std::size_t run_of(std::string_view text, const ascii::CharSet& set) noexcept {
    std::size_t size = 0;
    while (size < text.size() && set.contains(text[size]))
        ++size;
    return size;
}

// Each of the functions from string_size() to bare_item_size() returns the length of the item at
// the beginning of `text`; 0 if there is none.

std::size_t string_size(std::string_view text) noexcept {
    if (!text.starts_with('"'))
        return 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"')
            return i + 1;
        if (text[i] < ' ' || text[i] > '~')
            return 0;
        if (text[i] == '\\' && (++i == text.size() || (text[i] != '"' && text[i] != '\\')))
            return 0;
    }
    return 0;
}

// Integer or Decimal (RFC 9651 section 4.2.4).
std::size_t number_size(std::string_view text) noexcept {
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    const std::size_t whole = run_of(text.substr(sign), ascii::digit);
    const std::size_t end = sign + whole;
    if (whole == 0 || whole > 15)
        return 0;
    if (end == text.size() || text[end] != '.')
        return end;
    const std::size_t fraction = run_of(text.substr(end + 1), ascii::digit);
    return whole > 12 || fraction == 0 || fraction > 3 ? 0 : end + 1 + fraction;
}

std::size_t bytes_size(std::string_view text) noexcept {
    const std::size_t inside = run_of(text.substr(1), base64);
    return inside + 1 < text.size() && text[inside + 1] == ':' ? inside + 2 : 0;
}

std::size_t token_size(std::string_view text) noexcept {
    std::size_t size = 1;
    while (size < text.size() &&
           (ascii::token.contains(text[size]) || text[size] == ':' || text[size] == '/'))
        ++size;
    return size;
}

std::size_t bare_item_size(std::string_view text) noexcept {
    if (text.empty())
        return 0;
    const char first = text.front();
    if (first == '"')
        return string_size(text);
    if (first == '-' || ascii::digit.contains(first))
        return number_size(text);
    if (first == ':')
        return bytes_size(text);
    if (first == '?')
        return text.size() > 1 && (text[1] == '0' || text[1] == '1') ? 2 : 0;
    if (first == '@') {
        const std::size_t date = number_size(text.substr(1));
        const bool whole = text.substr(1, date).find('.') == std::string_view::npos;
        return date > 0 && whole ? date + 1 : 0;
    }
    if (first == '%') {
        const std::size_t inside = string_size(text.substr(1));
        return inside == 0 ? 0 : inside + 1;
    }
    return first == '*' || letter.contains(first) ? token_size(text) : 0;
}

struct Parameter {
    std::string_view key;
    std::string_view value; // empty: no value, which means true
};

// Removes the parameter that `text` begins with, ";" included, and returns it. Returns nothing if
// it is malformed.
std::optional<Parameter> take_parameter(std::string_view& text) noexcept {
    text.remove_prefix(1);
    while (text.starts_with(' '))
        text.remove_prefix(1);
    if (text.empty() || !key_start.contains(text.front()))
        return std::nullopt;
    Parameter parameter{take(text, run_of(text, key_rest)), {}};
    if (!text.starts_with('='))
        return parameter;
    text.remove_prefix(1);
    const std::size_t size = bare_item_size(text);
    if (size == 0)
        return std::nullopt;
    parameter.value = take(text, size);
    return parameter;
}

std::optional<std::string_view>
find_parameter(std::string_view parameters, std::string_view key) noexcept {
    std::optional<std::string_view> found;
    while (!parameters.empty()) {
        const auto parameter = take_parameter(parameters);
        if (!parameter)
            break;
        if (parameter->key == key)
            found = parameter->value;
    }
    return found;
}

} // namespace

std::optional<std::int64_t> StringMember::integer(std::string_view key) const noexcept {
    const auto value = find_parameter(parameters, key);
    std::int64_t number = 0;
    if (!value)
        return std::nullopt;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (error != std::errc{} || end != value->data() + value->size())
        return std::nullopt;
    return number;
}

std::optional<std::string_view> StringMember::string(std::string_view key) const noexcept {
    const auto value = find_parameter(parameters, key);
    if (!value || !value->starts_with('"'))
        return std::nullopt;
    return value->substr(1, value->size() - 2);
}

StringList::StringList(std::string_view text) noexcept : rest_{ascii::trim(text)} {}

std::optional<StringMember> StringList::next() noexcept {
    if (malformed_ || rest_.empty())
        return std::nullopt;
    malformed_ = true; // reset below once the member was read to its end
    const std::size_t size = string_size(rest_);
    if (size == 0)
        return std::nullopt;
    StringMember member{take(rest_, size).substr(1, size - 2), {}};
    const std::string_view behind = rest_;
    while (rest_.starts_with(';'))
        if (!take_parameter(rest_))
            return std::nullopt;
    member.parameters = behind.substr(0, behind.size() - rest_.size());
    while (!rest_.empty() && ascii::is_blank(rest_.front()))
        rest_.remove_prefix(1);
    if (!rest_.empty()) {
        if (rest_.front() != ',')
            return std::nullopt;
        rest_.remove_prefix(1);
        while (!rest_.empty() && ascii::is_blank(rest_.front()))
            rest_.remove_prefix(1);
        if (rest_.empty())
            return std::nullopt; // a comma without a member behind it
    }
    malformed_ = false;
    return member;
}

} // namespace stint::http
