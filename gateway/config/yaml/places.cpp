#include "config/yaml/places.hpp"

#include "config/values/text_check.hpp"
#include "config/yaml/diagnostics.hpp"

namespace stint::config {

Places::Places(std::string_view text, const std::filesystem::path& file) : file_{file.string()} {
    Diagnostics report{file_};
    root_ = parse_yaml(checked_text(text, report), report);
}

std::string Places::of(const Path& path) {
    Mark mark;
    const Node* node = root_ ? &*root_ : nullptr;
    for (const Step& step : path) {
        if (node == nullptr)
            break;
        const auto* const key = std::get_if<std::string>(&step);
        const bool fits = node->kind == (key != nullptr ? Node::Kind::map : Node::Kind::sequence);
        const auto position = !fits            ? std::nullopt
                              : key != nullptr ? find_key(*node, *key)
                                               : std::optional{std::get<std::size_t>(step)};
        if (!position || *position >= node->items.size())
            break;
        mark = key != nullptr ? node->keys[*position].mark : node->items[*position].mark;
        node = &node->items[*position];
    }
    return ConfigError{file_, mark.line, mark.column, {}}.place();
}

std::optional<std::size_t> Places::find_key(const Node& map, const std::string& key) {
    auto [positions, added] = known_.try_emplace(&map);
    if (added)
        for (std::size_t i = 0; i < map.keys.size(); ++i)
            positions->second.emplace(map.keys[i].text, i);
    const auto found = positions->second.find(key);
    return found == positions->second.end() ? std::nullopt : std::optional{found->second};
}

} // namespace stint::config
