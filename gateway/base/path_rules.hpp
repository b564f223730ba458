// How the paths of requests are read before they are routed. What else two servers may read
// differently is no matter of choice: see http/target.hpp.
#pragma once

namespace stint {

struct PathRules {
    bool merge_slashes = true;           // runs of "/" count as one
    bool refuse_encoded_slashes = false; // any "%2F" is a 400
};

} // namespace stint
