// Regular expressions of paths.
#pragma once

#include "base/path_rules.hpp"
#include "base/regex.hpp"
#include "config/values/match_values.hpp"
#include "config/yaml/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// One that matches normalised paths as a whole. What plainly matches none is a mistake.
[[nodiscard]] Parsed<Regex>
parse_path_regex(std::string_view text, PathUse use, const PathRules& rules);

// Texts that every match of the pattern holds, each in one piece. pattern: it compiles. Certain,
// but not all: what is in groups, classes and choices is left out, and there are none where flags
// or an unusual escape change how the pattern is read.
[[nodiscard]] std::vector<std::string> required_texts(std::string_view pattern);

} // namespace stint::config
