// Checks that a rewritten path means to every server what the client's own would have meant.
#pragma once

#include "base/path_rules.hpp"
#include "http/target.hpp"
#include "routing/path_rewrite.hpp"

#include <string>
#include <string_view>

namespace stint::admission {

// path: normalised. as_read: the same path as a server reads it by `rules` and `reading`. True:
// such a server reads the rewritten path as if `as_read` had been rewritten; no spelling leads
// elsewhere.
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
