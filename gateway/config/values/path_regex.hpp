// Parses regular expressions that match paths.
#pragma once

#include "base/path_rules.hpp"
#include "base/regex.hpp"
#include "config/values/match_values.hpp"
#include "config/yaml/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// Parses a regular expression for whole normalised paths. A pattern that obviously matches no path
// is an error.
[[nodiscard]] Parsed<Regex>
parse_path_regex(std::string_view text, PathUse use, const PathRules& rules);

// Returns literal texts that every match of the pattern contains. Requires a pattern that compiles.
// The list may be incomplete: it skips groups, classes and alternatives, and is empty if the
// pattern has flags or unusual escapes.
[[nodiscard]] std::vector<std::string> required_texts(std::string_view pattern);

} // namespace stint::config
