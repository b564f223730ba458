// How the paths of requests are read before they are routed. What else two servers may read
// differently is no matter of choice: see http/target.hpp.
#pragma once

#include <string_view>

namespace stint {

struct PathRules {
    bool merge_slashes = true;           // runs of "/" count as one
    bool refuse_encoded_slashes = false; // any "%2F" is a 400
};

// What may stand in a segment of a path as it is or as an escape (RFC 3986 sections 2.2 and 3.3):
// many servers take both for the same. ";" is not among them: servers cut it.
inline constexpr std::string_view path_marks = ":@!$&'()*+,=";

} // namespace stint
