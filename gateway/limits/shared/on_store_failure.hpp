// The policy of a shared limit whose store does not answer.
#pragma once

#include <cstdint>

namespace stint::limits {

enum class OnStoreFailure : std::uint8_t {
    share, // admits up to the key's share, and without one nothing
    open,  // as `share`; a key whose share does not suffice is counted by this gateway alone
    closed // admits nothing
};

} // namespace stint::limits
