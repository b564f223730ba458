// A hash map from text with lookup by std::string_view, without making a string.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stint::routing {

struct TextHash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};

template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

// Returns nullptr if the text is not found. An empty map does not even hash the text.
template <class T>
[[nodiscard]] const T* find_text(const TextMap<T>& map, std::string_view text) {
    if (map.empty())
        return nullptr;
    const auto found = map.find(text);
    return found != map.end() ? &found->second : nullptr;
}

} // namespace stint::routing
