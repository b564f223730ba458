// Compares two configurations in the form of their file. Pure.
#pragma once

#include "config/diff/path.hpp"
#include "config/fields/shown.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stint::config {

struct Difference {
    enum class Kind : std::uint8_t { added, removed, changed, moved };
    Kind kind = Kind::changed;
    Path path; // in the next configuration; of what is removed: in the former one
    // Absent where there is no value: the former one of what is added, the next one of what is
    // removed, and both of what has moved.
    std::optional<Shown> former{};
    std::optional<Shown> next{};
    std::size_t moved_from = 0; // Kind::moved: the position in the former list
};

// Returns what differs, in the order of `next`; what is removed from a map or a list comes after
// the rest of it. Maps are compared by their keys, whatever their order. The items of a list are
// compared by their names if it has maps, and each has a name of its own: its text, or the text of
// its first member, such as a route's name or a listener's address. Then an item that is not where
// it was among the others has moved, and may have changed, too. The fewest items that explain the
// new order have moved. Any other list is one value.
[[nodiscard]] std::vector<Difference> differences(const Shown& former, const Shown& next);

} // namespace stint::config
