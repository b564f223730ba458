// Buffers for texts that a decision computes.
#pragma once

#include <string>

namespace stint::admission {

// Reused from decision to decision, to save allocations. Contents are valid until the next
// decision.
struct Scratch {
    std::string host;
    std::string path;
    std::string key;
    std::string rewritten; // the path to send, or the request that a check describes
};

} // namespace stint::admission
