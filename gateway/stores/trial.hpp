// Tries a store for real, for people who set it up.
#pragma once

#include "stores/store_settings.hpp"
#include "stores/trial_report.hpp"

namespace stint::stores {

// Connects to the store's server, asks for its facts, and tries each command that a store needs, on
// a key of its own that expires at once. Blocks for some seconds at most.
[[nodiscard]] TrialFacts try_store(const StoreSettings& settings);

} // namespace stint::stores
