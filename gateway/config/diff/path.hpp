// The path of a value in a configuration, as errors write it: routes[2].limits[0].requests.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace stint::config {

// A key of a map, or the position of a list's item, counted from 0.
using Step = std::variant<std::string, std::size_t>;
using Path = std::vector<Step>;

// Returns "" for the whole configuration.
[[nodiscard]] std::string path_text(const Path& path);

} // namespace stint::config
