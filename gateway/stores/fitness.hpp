// The check of a server that is to be a store of shared limits. Pure.
#pragma once

#include "base/time.hpp"
#include "redis/sentinel_watch.hpp"
#include "redis/server_facts.hpp"

#include <span>
#include <string>

namespace stint::stores {

// Returns why the server cannot keep the promise of shared limits: "its eviction policy is
// allkeys-lru, not noeviction"; empty: it can. assume_noeviction: whatever it tells or does not
// tell, its eviction policy is noeviction.
[[nodiscard]] std::string unfit(const redis::ServerFacts& facts, bool assume_noeviction);

// Returns why a failover takes longer than gateways can use their shares: "the Sentinels wait 30 s
// ..."; empty: it does not.
[[nodiscard]] std::string
slow_failover(std::span<const redis::SentinelState> sentinels, Duration time_to_live);

} // namespace stint::stores
