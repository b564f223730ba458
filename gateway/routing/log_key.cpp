#include "routing/log_key.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::routing {
namespace {

std::string hex_of(std::uint64_t number) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(16, '0');
    for (std::size_t i = text.size(); i-- > 0; number >>= 4U)
        text[i] = digits[number & 15U];
    return text;
}

} // namespace

std::string logged(const Key& key, LogKey as) {
    constexpr std::size_t longest_prefix = 8;
    if (key.missing)
        return {};
    switch (as) {
    case LogKey::hash:
        return hex_of(key.hash.high);
    case LogKey::prefix: {
        const std::size_t size = std::min(longest_prefix, key.text.size() / 3);
        return std::string{key.text.substr(0, size)} + "...";
    }
    case LogKey::full:
        return std::string{key.text};
    case LogKey::off:
        break;
    }
    return {};
}

} // namespace stint::routing
