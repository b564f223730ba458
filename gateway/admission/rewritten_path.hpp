// Checks a rewritten path against servers that read paths differently from the gateway
// (http::PathReading).
#pragma once

#include "base/path_rules.hpp"
#include "http/target.hpp"
#include "routing/path_rewrite.hpp"

#include <string>
#include <string_view>

namespace stint::admission {

// Returns true if a server that reads paths by `rules` and `reading` reads these two texts as one
// path: the rewrite of `path`, which the gateway sends, and the rewrite of `as_read`. Returns false
// if it reads two paths, or if one of the texts cannot be rewritten or read. path: the client's
// path, normalised. as_read: the client's path as that server reads it.
[[nodiscard]] inline bool means_the_same(
    const routing::PathRewrite& rewrite,
    std::string_view path,
    std::string_view as_read,
    const PathRules& rules,
    http::PathReading reading) {
    std::string sent;
    std::string expected;
    if (!rewrite.apply(path, sent) || !rewrite.apply(as_read, expected))
        return false;
    const auto seen = http::read_path(sent, rules, reading);
    const auto wanted = http::read_path(expected, rules, reading);
    return seen && wanted && *seen == *wanted;
}

} // namespace stint::admission
