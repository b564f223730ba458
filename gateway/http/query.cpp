#include "http/query.hpp"

#include "http/ascii.hpp"

#include <algorithm>

namespace stint::http {

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string decoded;
    while (!text.empty()) {
        char next = text.front();
        std::size_t length = 1;
        if (next == '%') {
            const int high = text.size() >= 3 ? ascii::hex_value(text[1]) : -1;
            const int low = text.size() >= 3 ? ascii::hex_value(text[2]) : -1;
            if (high < 0 || low < 0)
                return std::nullopt;
            next = static_cast<char>(high * 16 + low);
            length = 3;
        }
        if (next == '\0')
            return std::nullopt;
        decoded += next;
        text.remove_prefix(length);
    }
    return decoded;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    encoded.reserve(text.size());
    for (const char c : text) {
        const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                                c == '~';
        if (unreserved) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += digits[byte >> 4U];
        encoded += digits[byte & 15U];
    }
    return encoded;
}

std::optional<std::string_view> parameter(std::string_view query, std::string_view name) noexcept {
    for (;;) {
        const std::string_view pair = query.substr(0, query.find('&'));
        const std::size_t equals = std::min(pair.find('='), pair.size());
        if (pair.substr(0, equals) == name && !pair.empty())
            return pair.substr(std::min(equals + 1, pair.size()));
        if (pair.size() == query.size())
            return std::nullopt;
        query.remove_prefix(pair.size() + 1);
    }
}

} // namespace stint::http
