// Checks that no other server reads a rewritten path differently from what the gateway means by it.
#pragma once

#include "base/path_rules.hpp"
#include "http/target.hpp"
#include "routing/path_rewrite.hpp"

#include <string>
#include <string_view>

namespace stint::admission {

// True if a server that reads the client's path as `as_read` reads the rewritten path as the
// rewrite of `as_read`. path: the client's path, normalised. as_read: the same path as the server
// reads it, by `rules` and `reading`.
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
