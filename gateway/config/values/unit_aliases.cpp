#include "config/values/unit_aliases.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace stint::config {

namespace {

// Spellings of units that other programs know, and the unit to write instead.
struct Alias {
    std::string_view spelling; // in lower case
    std::string_view unit;
};

constexpr std::array<Alias, 22> duration_aliases{{
    {"msec", "ms"},
    {"millisecond", "ms"},
    {"milliseconds", "ms"},
    {"sec", "s"},
    {"secs", "s"},
    {"second", "s"},
    {"seconds", "s"},
    {"min", "m"},
    {"mins", "m"},
    {"minute", "m"},
    {"minutes", "m"},
    {"hr", "h"},
    {"hrs", "h"},
    {"hour", "h"},
    {"hours", "h"},
    {"day", "d"},
    {"days", "d"},
    {"s", "s"},
    {"m", "m"},
    {"h", "h"},
    {"d", "d"},
    {"ms", "ms"},
}};

constexpr std::array<Alias, 13> size_aliases{{
    {"k", "KiB"},
    {"kb", "KiB"},
    {"kib", "KiB"},
    {"m", "MiB"},
    {"mb", "MiB"},
    {"mib", "MiB"},
    {"g", "GiB"},
    {"gb", "GiB"},
    {"gib", "GiB"},
    {"t", "TiB"},
    {"tb", "TiB"},
    {"tib", "TiB"},
    {"b", "B"},
}};

std::string_view unit_of_alias(std::span<const Alias> aliases, std::string_view spelling) {
    std::string lower{spelling};
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const auto found = std::ranges::find(aliases, lower, &Alias::spelling);
    return found == aliases.end() ? std::string_view{} : found->unit;
}

} // namespace

std::string_view usual_duration_unit(std::string_view spelling) {
    return unit_of_alias(duration_aliases, spelling);
}

std::string_view usual_size_unit(std::string_view spelling) {
    return unit_of_alias(size_aliases, spelling);
}

std::string rate_in_keys(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::string_view amount = text.substr(0, slash);
    const std::size_t digits = std::min(amount.find_first_not_of("0123456789"), amount.size());
    const std::string_view counted = without_blanks(amount.substr(digits));
    constexpr std::array<std::string_view, 6> words{"", "r", "req", "reqs", "request", "requests"};
    if (slash == std::string_view::npos || digits == 0 ||
        std::ranges::find(words, counted) == words.end())
        return {};
    const std::string_view unit = usual_duration_unit(without_blanks(text.substr(slash + 1)));
    if (unit.empty())
        return {};
    return "requests: " + std::string{amount.substr(0, digits)} + " and per: 1" + std::string{unit};
}

std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

} // namespace stint::config
