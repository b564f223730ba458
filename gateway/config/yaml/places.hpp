// The places of keys in a configuration file.
#pragma once

#include "config/diff/path.hpp"
#include "config/yaml/yaml_tree.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stint::config {

class Places {
  public:
    // text: the file's text, which load_text() has accepted. file: named in the places.
    Places(std::string_view text, const std::filesystem::path& file);

    // Returns "file:line:column" of the key or the item at the path, or of the nearest one around
    // it that the file has: a default is not there.
    [[nodiscard]] std::string of(const Path& path);

  private:
    [[nodiscard]] std::optional<std::size_t> find_key(const Node& map, const std::string& key);

    std::string file_;
    std::optional<Node> root_;
    // The positions of keys in the maps that were searched: there may be 20,000 limits.
    std::unordered_map<const Node*, std::unordered_map<std::string_view, std::size_t>> known_;
};

} // namespace stint::config
