// Looking up the few fields that origin and load generator need. Not a parser of HTTP: heads are
// trusted.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <strings.h>

namespace stint::bench {

inline bool same_name(std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// Of a head whose lines all end in CRLF: the value of the field, empty where it has none.
inline std::string_view field(std::string_view head, std::string_view name) {
    for (auto end = head.find("\r\n"); end != head.npos; end = head.find("\r\n")) {
        const auto line = head.substr(0, end);
        head.remove_prefix(end + 2);
        if (line.size() <= name.size() || line[name.size()] != ':' ||
            !same_name(line.substr(0, name.size()), name))
            continue;
        const auto value = line.find_first_not_of(' ', name.size() + 1);
        return value == line.npos ? std::string_view{} : line.substr(value);
    }
    return {};
}

inline bool has_word(std::string_view value, std::string_view word) {
    for (; value.size() >= word.size(); value.remove_prefix(1))
        if (same_name(value.substr(0, word.size()), word))
            return true;
    return false;
}

inline std::optional<std::uint64_t> number(std::string_view digits) {
    std::uint64_t value = 0;
    const auto end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (digits.empty() || read.ec != std::errc{} || read.ptr != end)
        return std::nullopt;
    return value;
}

} // namespace stint::bench
