// Turns the locations of a server into matches of routes that choose the same location for every
// path.
#pragma once

#include "base/path_rules.hpp"
#include "import/read/model.hpp"
#include "import/report.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::import_nginx {

struct LocationMatch {
    enum class Kind : std::uint8_t { exact, prefix, regex };

    Kind kind = Kind::prefix;
    std::string text;  // the value of path_exact, path or path_regex
    std::string begin; // the path with which all of its paths begin; "" for nginx's own regex
    const Location* location = nullptr; // null: requests that no location has
};

// Returns the matches in the order of their precedence. The last one is for all other paths.
// Locations that Stint cannot match alike are reported and left out.
[[nodiscard]] std::vector<LocationMatch>
matches_of(const Server& server, const PathRules& rules, Report& report);

// Returns a regular expression of nginx, which may match anywhere in a path, as one that matches
// whole paths.
[[nodiscard]] std::string whole_path_regex(std::string_view pattern, bool ignore_case);

// Returns a path as requests have it, with characters that paths may not have as percent-escapes.
[[nodiscard]] std::string encoded_path(std::string_view path);

// Returns a regular expression that matches this text alone.
[[nodiscard]] std::string escaped_for_regex(std::string_view text);

} // namespace stint::import_nginx
