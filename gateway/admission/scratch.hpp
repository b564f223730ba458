// Texts that a decision computes.
#pragma once

#include <string>

namespace stint::admission {

// Kept from decision to decision, so that they allocate nothing. Valid until the next decision.
struct Scratch {
    std::string host;
    std::string path;
    std::string key;
};

} // namespace stint::admission
