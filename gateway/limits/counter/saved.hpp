// Counters as bytes: what of a limit outlives the process, and how it comes back.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::limits {

// The counters of a limit lie on pages by their keys' hashes: 64 for each of its shards, one for a
// limit without a key. A page is what is saved at once.
struct SavedPage {
    std::uint32_t page = 0;
    std::string bytes;  // empty: nothing on the page counts any more
    SteadyTime until{}; // nothing on the page counts from then on
};

// What SavedPage was, in the process that has it now.
struct RestoredPage {
    std::uint32_t page = 0;
    std::string_view bytes;
    Duration shift{}; // from the former process's steady clock to this one's; 0 if it goes on
};

} // namespace stint::limits
