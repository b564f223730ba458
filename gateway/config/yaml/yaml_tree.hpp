// Parses YAML into a tree in which each key and value has its place in the file. Reports anchors,
// aliases, tags and merge keys as errors, because yaml-cpp's own nodes would resolve them silently.
#pragma once

#include "config/yaml/diagnostics.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

struct Node {
    // unusable: a node that has been reported as an error; readers skip it.
    enum class Kind : std::uint8_t { null, scalar, map, sequence, unusable };

    Kind kind = Kind::null;
    Mark mark;
    std::string text; // text of a scalar, quotes, escapes and variables resolved
    // Texts that are appended to an error about the scalar. Few scalars have any.
    struct Remarks {
        std::string written; // the text with its variables, as in the file; empty if it has none
        // Advice on the second line of a plain scalar that should be an entry of its own; empty if
        // there is none.
        std::string continued;
    };
    std::unique_ptr<Remarks> remarks; // null: none
    // Keys of a map; keys[i] belongs to items[i]. Keys that have been reported as errors (duplicate
    // keys, merge keys, keys that are no scalars) are unusable; all others are scalars.
    std::vector<Node> keys;
    std::vector<Node> items; // the values of a map or the elements of a sequence

    // Returns the remarks; makes them if there are none.
    [[nodiscard]] Remarks& remark() {
        if (remarks == nullptr)
            remarks = std::make_unique<Remarks>();
        return *remarks;
    }
};

// Parses the only document in `text`, which must come from checked_text(). Returns nullopt, and
// adds an error to the report, if the document is empty or not YAML.
[[nodiscard]] std::optional<Node> parse_yaml(std::string_view text, Diagnostics& report);

// Returns the kind in words: "a map", "a list", "a value" or "nothing".
[[nodiscard]] std::string_view describe(Node::Kind kind) noexcept;

} // namespace stint::config
