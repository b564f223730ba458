// Another path for the upstream than the one that was routed by.
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
        regex   // where all of the path matches: `to` with its groups
    };
    Kind kind = Kind::prefix;
    std::string from; // both without a "/" at the end, where it is a prefix
    std::string to;
    std::optional<Regex> regex{};

    // path: normalised. Puts the path to send into `out`: it begins with one "/" and has no dot
    // segments, whatever was put together. A path that does not match stays as it is. False, and
    // "/" in `out`, where a group begins or ends inside of an escape: what is put together of such
    // parts may be malformed, or say what nobody has looked at ("%2" and "F").
    [[nodiscard]] bool apply(std::string_view path, std::string& out) const;
};

} // namespace stint::routing
