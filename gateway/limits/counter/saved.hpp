// Counters as bytes: the part of a limit that outlives the process, as saved and as restored.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::limits {

// One page of saved counters, the unit of saving. A keyed limit has 64 pages for each shard, chosen
// by the hash of the key; a limit without a key has one page.
struct SavedPage {
    std::uint32_t page = 0;
    std::string bytes;  // empty: nothing on the page counts any more
    SteadyTime until{}; // nothing on the page counts from then on
};

// A SavedPage in the process that restores it.
struct RestoredPage {
    std::uint32_t page = 0;
    std::string_view bytes;
    // Added to instants of the former process's steady clock; 0 if the same clock goes on.
    Duration shift{};
};

// Returns the number of shards of the limit that has saved a page. A key's page depends on it. 0:
// the bytes are not those of a page.
[[nodiscard]] std::size_t shards_of(std::string_view bytes) noexcept;

} // namespace stint::limits
