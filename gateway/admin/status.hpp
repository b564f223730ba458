// The live state of limits, routes and upstreams as JSON, from plain values.
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

// One key of a limit that has a key.
struct ChosenKey {
    std::string text;
    Hash128 hash;
    limits::Numbers numbers; // its own, or the limit's
};

// Settings and live state: used, remaining and resets_in_ms of a window, in_flight and remaining of
// a cap; for a limit with a key those only of the chosen one, and live_keys and table_full;
// refused.
[[nodiscard]] Json limit_json(
    const config::Limit& settings,
    const limits::Limit& limit,
    const std::optional<ChosenKey>& key,
    const Now& now);

// One entry for each host or route that is paused, probed or not yet back at its former rate.
[[nodiscard]] Json cooldowns_json(const std::vector<limits::CooldownSetPtr>& sets, SteadyTime now);

// One entry a route, in the configuration's order. `counters` and `slots` belong together.
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
