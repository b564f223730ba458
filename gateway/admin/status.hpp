// The live state of limits, routes and upstreams as JSON, made from the arguments alone.
#pragma once

#include "admin/message.hpp"
#include "base/time.hpp"
#include "config/schema/schema.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "limits/limit.hpp"
#include "observe/metrics.hpp"
#include "upstream/resolver.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::admin {

// The key of a keyed limit whose state is shown.
struct ChosenKey {
    std::string text;
    Hash128 hash;
    limits::Numbers numbers; // numbers of the key's override, or of the limit
};

// Returns the settings and the live state of a limit. A window has used, remaining and
// resets_in_ms; a concurrency limit has in_flight and remaining. A limit with keys has these only
// for the key that `key` selects (without one a concurrency limit has its total in_flight), and
// always live_keys, overflowed and table_full. All limits have `refused`.
[[nodiscard]] Json limit_json(
    const config::Limit& settings,
    const limits::Limit& limit,
    const std::optional<ChosenKey>& key,
    const Now& now);

// Returns an entry for each cooldown scope (host, route or key) that is paused, probing or ramping
// up, or that has waiting requests.
[[nodiscard]] Json cooldowns_json(const std::vector<limits::CooldownSetPtr>& sets, SteadyTime now);

// Returns one entry per route, in the configuration's order. counters: sums by the indices of
// `slots`.
[[nodiscard]] Json routes_status_json(
    const config::Config& config,
    const observe::WorkerCounters& counters,
    const observe::MetricSlots& slots);

[[nodiscard]] Json upstreams_status_json(
    const config::Config& config,
    const upstream::AddressBook& addresses,
    const observe::WorkerCounters& counters,
    const observe::MetricSlots& slots);

} // namespace stint::admin
