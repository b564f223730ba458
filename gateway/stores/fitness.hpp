// The check of a server that is to be a store of shared limits. Pure.
#pragma once

#include "redis/server_facts.hpp"

#include <string>

namespace stint::stores {

// Returns why the server cannot keep the promise of shared limits: "its eviction policy is
// allkeys-lru, not noeviction"; empty: it can. assume_noeviction: whatever it tells or does not
// tell, its eviction policy is noeviction.
[[nodiscard]] std::string unfit(const redis::ServerFacts& facts, bool assume_noeviction);

} // namespace stint::stores
