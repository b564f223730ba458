// The check of a server that is to be a store of shared limits. Pure.
#pragma once

#include "base/time.hpp"
#include "redis/server_facts.hpp"
#include "redis/voter.hpp"
#include "stores/store_settings.hpp"

#include <span>
#include <string>

namespace stint::stores {

// Returns why the server cannot keep the promise of shared limits: "its eviction policy is
// allkeys-lru, not noeviction"; empty: it can.
[[nodiscard]] std::string unfit(const redis::ServerFacts& facts, const StoreSettings& settings);

// Returns why a failover takes longer than gateways can use their shares: "30000 ms pass before a
// primary that is silent counts as down, ..."; empty: it does not.
[[nodiscard]] std::string
slow_failover(std::span<const redis::VoterState> voters, Duration time_to_live);

} // namespace stint::stores
