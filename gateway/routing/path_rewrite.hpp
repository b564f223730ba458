// A rewrite of the routed path to another one for the upstream.
#pragma once

#include "base/regex.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::routing {

struct PathRewrite {
    enum class Kind : std::uint8_t {
        prefix, // `from`, on a segment boundary, becomes `to`
        whole,  // `to`, whatever the path is
        regex   // if all of the path matches: `to` with its groups
    };
    Kind kind = Kind::prefix;
    std::string from; // both without a "/" at the end, for Kind::prefix
    std::string to;
    std::optional<Regex> regex{};

    // Writes the path to send to `out`: it begins with one "/" and has no dot segments, however it
    // was assembled. path: normalised. A path that does not match stays as it is. Returns false,
    // with "/" in `out`, if a group begins or ends inside of an escape: the assembled path may be
    // malformed, or contain an escape that no check has seen ("%2" and "F").
    [[nodiscard]] bool apply(std::string_view path, std::string& out) const;
};

} // namespace stint::routing
