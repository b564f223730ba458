// The bodies that origin and load generator send: the alphabet over and over, so that either can
// tell whether a piece, wherever it begins, has come through unchanged.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace stint::bench {

constexpr std::size_t alphabet = 26;

inline std::string body_of(std::size_t size) {
    std::string body(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        body[i] = static_cast<char>('a' + i % alphabet);
    return body;
}

// Whether `piece` is what such a body holds from `offset` on.
inline bool intact(std::string_view piece, std::size_t offset) {
    constexpr std::size_t longest = 64 * 1024;
    static const std::string sample = body_of(longest + alphabet);
    while (!piece.empty()) {
        const auto size = std::min(piece.size(), longest);
        if (std::memcmp(piece.data(), sample.data() + offset % alphabet, size) != 0)
            return false;
        piece.remove_prefix(size);
        offset += size;
    }
    return true;
}

} // namespace stint::bench
