// A rewrite of the request's path into the path that the upstream gets.
#pragma once

#include "base/regex.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::routing {

struct PathRewrite {
    enum class Kind : std::uint8_t {
        prefix, // replaces the prefix `from`, on a segment boundary, by `to`
        whole,  // replaces every path by `to`
        regex   // replaces a path that `regex` matches as a whole by `to` with its groups
    };
    Kind kind = Kind::prefix;
    std::string from; // `from` and `to` do not end with "/", for Kind::prefix
    std::string to;
    std::optional<Regex> regex{};

    // Writes the path to send into `out`. A path that does not match is copied; a rewritten one
    // begins with exactly one "/" and has no dot segments. path: normalised. Returns false, with
    // "/" in `out`, if a group begins or ends inside a percent-escape: joined text could be
    // malformed, or form an escape that was never checked ("%2" and "F").
    [[nodiscard]] bool apply(std::string_view path, std::string& out) const;
};

} // namespace stint::routing
