// The part of a limit's numbers that this process may use of one key, as long as others have the
// rest.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"

namespace stint::limits {

// Narrows a charge's numbers: the lower ones count. `burst` as in Numbers: 0 = the quota. A quota
// of 0 admits nothing.
struct Share {
    Numbers numbers;
    // The share ends at this instant. With SteadyTime::max() it ends when its counter has nothing
    // left to count, but not within `per` after it was set; a cap's never ends. Without a share the
    // charge's own numbers count.
    SteadyTime until = SteadyTime::max();
};

} // namespace stint::limits
