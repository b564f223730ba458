// Counters as bytes: the part of a limit that outlives the process, and how it comes back.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::limits {

// One page of saved counters. Keys' hashes spread the counters over 64 pages for each shard of a
// limit, one page for a limit without a key. A page is saved at once.
struct SavedPage {
    std::uint32_t page = 0;
    std::string bytes;  // empty: nothing on the page counts any more
    SteadyTime until{}; // nothing on the page counts from then on
};

// A SavedPage in the process that restores it.
struct RestoredPage {
    std::uint32_t page = 0;
    std::string_view bytes;
    Duration shift{}; // from the former process's steady clock to this one's; 0 if it goes on
};

} // namespace stint::limits
