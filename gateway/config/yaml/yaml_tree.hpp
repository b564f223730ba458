// YAML as a tree whose every key and value knows its place. Only plain data: anchors, aliases, tags
// and merge keys, which yaml-cpp's own nodes resolve and hide, are reported here.
#pragma once

#include "config/yaml/diagnostics.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

struct Node {
    // `unusable` stands for what has been reported already and can be read as nothing else.
    enum class Kind : std::uint8_t { null, scalar, map, sequence, unusable };

    Kind kind = Kind::null;
    Mark mark;
    std::string text;        // a scalar's, quotes and escapes resolved
    std::vector<Node> keys;  // a map's; keys[i] belongs to items[i]. The key of a duplicate or of
                             // a merge is unusable, every other is a scalar
    std::vector<Node> items; // the values of a map or the elements of a sequence
};

// The one document in `text`, which must be what checked_text returned. Nothing when it is empty or
// not YAML; the report then says why.
[[nodiscard]] std::optional<Node> parse_yaml(std::string_view text, Diagnostics& report);

// "a map", "a list", "a value" or "nothing".
[[nodiscard]] std::string_view describe(Node::Kind kind) noexcept;

} // namespace stint::config
