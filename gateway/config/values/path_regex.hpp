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

// Parses a pattern for whole normalised paths. One that plainly matches none is a mistake.
[[nodiscard]] Parsed<Regex>
parse_path_regex(std::string_view text, PathUse use, const PathRules& rules);

// Returns texts that every match of the pattern holds, each in one piece. pattern: it compiles.
// Certain, but not all: groups, classes and choices are left out, and there are none where flags
// or an unusual escape change how the pattern is read.
[[nodiscard]] std::vector<std::string> required_texts(std::string_view pattern);

} // namespace stint::config
