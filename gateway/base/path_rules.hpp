// Settings of how request targets are read before routing. Other spellings that two servers may
// read differently cannot be configured: see http/target.hpp.
#pragma once

#include <string_view>

namespace stint {

struct PathRules {
    bool merge_slashes = true;           // runs of "/" count as one
    bool refuse_encoded_slashes = false; // any "%2F" is a 400
    // A request in absolute-form may match routes for any host ("*") although no route names its
    // host.
    bool routes_absolute_form = false;
};

// Characters that may be literal or escaped in a path segment (RFC 3986 sections 2.2 and 3.3). Many
// servers read both spellings alike. ";" is not one of them, because servers cut a segment there.
inline constexpr std::string_view path_marks = ":@!$&'()*+,=";

} // namespace stint
