// Whether a rewritten path means to every server what the client's own would have meant.
#pragma once

#include "base/path_rules.hpp"
#include "http/target.hpp"
#include "routing/path_rewrite.hpp"

#include <string>
#include <string_view>

namespace stint::proxy {

// path: normalised. as_read: the same as somebody reads it who reads it so. True: whoever reads the
// rewritten path so sees what `as_read` would have been rewritten to; no spelling leads elsewhere.
[[nodiscard]] inline bool means_the_same(
    const routing::PathRewrite& rewrite,
    std::string_view path,
    std::string_view as_read,
    const PathRules& rules,
    http::PathReading reading) {
    std::string sent;
    rewrite.apply(path, sent);
    std::string expected;
    rewrite.apply(as_read, expected);
    const auto seen = http::read_path(sent, rules, reading);
    return seen && *seen == expected;
}

} // namespace stint::proxy
