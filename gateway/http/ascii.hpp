// The character classes and comparisons of HTTP (RFC 9110 section 5.6): ASCII only, no locale.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::http::ascii {

// A set of bytes with a constant-time test.
class CharSet {
  public:
    constexpr explicit CharSet(std::string_view members) {
        for (const char c : members)
            member_[static_cast<unsigned char>(c)] = true;
    }

    [[nodiscard]] constexpr bool contains(char c) const noexcept {
        return member_[static_cast<unsigned char>(c)];
    }

    [[nodiscard]] constexpr bool contains_all(std::string_view text) const noexcept {
        return std::all_of(text.begin(), text.end(), [this](char c) { return contains(c); });
    }

  private:
    std::array<bool, 256> member_{};
};

#define STINT_ASCII_ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
inline constexpr CharSet digit{"0123456789"};
inline constexpr CharSet token{STINT_ASCII_ALNUM "!#$%&'*+-.^_`|~"};
inline constexpr CharSet unreserved{STINT_ASCII_ALNUM "-._~"};
inline constexpr CharSet host_name{STINT_ASCII_ALNUM "-._"};
inline constexpr CharSet request_id{STINT_ASCII_ALNUM "._-:+/=@"};
#undef STINT_ASCII_ALNUM

[[nodiscard]] constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// Returns the value of a hexadecimal digit, or -1.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9')
        return c - '0';
    const char folded = lower(c);
    return folded >= 'a' && folded <= 'f' ? folded - 'a' + 10 : -1;
}

// True for control characters that may not occur in a field or a chunk extension: all but HTAB.
[[nodiscard]] constexpr bool is_forbidden_control(char c) noexcept {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

[[nodiscard]] constexpr bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t';
}

// True if the texts are equal, ignoring the case of `text`. lower_case: must be in lower case.
[[nodiscard]] constexpr bool
equals_folded(std::string_view text, std::string_view lower_case) noexcept {
    return text.size() == lower_case.size() &&
           std::equal(text.begin(), text.end(), lower_case.begin(), [](char a, char b) {
               return lower(a) == b;
           });
}

// True if both names are equal, ignoring case.
[[nodiscard]] constexpr bool same_folded(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
               return lower(x) == lower(y);
           });
}

[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

// Calls visit(element) for every element of a comma-separated list, empty ones included.
template <class Visit>
constexpr void for_each_element(std::string_view list, Visit visit) {
    for (;;) {
        const std::size_t comma = list.find(',');
        visit(trim(list.substr(0, comma)));
        if (comma == std::string_view::npos)
            return;
        list.remove_prefix(comma + 1);
    }
}

// True if an element of the list equals this name, ignoring case.
[[nodiscard]] constexpr bool list_contains(std::string_view list, std::string_view name) noexcept {
    bool found = false;
    for_each_element(list, [&](std::string_view each) { found |= same_folded(each, name); });
    return found;
}

} // namespace stint::http::ascii
