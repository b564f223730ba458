// The bounds of a message's head.
#pragma once

#include <cstddef>

namespace stint {

struct HeadBounds {
    std::size_t max_head = 16 * 1024;  // bytes of the whole head; a larger one is answered by 431
    std::size_t max_target = 8 * 1024; // bytes of a request's target; more: 414
    std::size_t max_fields = 128;      // fields; more: 431
};

} // namespace stint
