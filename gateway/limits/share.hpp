// A share: the part of a limit's quota for one key that this process may use, while other gateways
// use the rest.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"

namespace stint::limits {

// The share of one key. A charge is admitted by its own numbers or by the share's, whichever are
// lower. A `burst` of 0 means the quota. A quota of 0 admits nothing.
struct Share {
    Numbers numbers;
    // The share ends at this instant; then the charge's own numbers apply again. With
    // SteadyTime::max() it ends when the key's counter counts nothing any more, but not within
    // `per` after it was set. A cap's share with SteadyTime::max() never ends.
    SteadyTime until = SteadyTime::max();
};

} // namespace stint::limits
