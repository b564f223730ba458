// The configuration as JSON: the YAML's shape and names, with units in them.
#pragma once

#include "admin/message.hpp"
#include "config/fields/shown.hpp"
#include "config/schema/schema.hpp"
#include "limits/decision.hpp"

#include <chrono>
#include <cstddef>
#include <optional>

namespace stint::admin {

// Settings that need a restart to change, as they were at the start.
struct RunningConfig {
    std::optional<config::Admin> admin;
    std::size_t workers = 0;
    bool pin_workers = false;
    std::optional<config::State> state{};
};

// GET /config: with every default filled in, and with the timeouts that apply to each route. Has
// the path of the token file, never the token.
[[nodiscard]] Json config_json(const config::Config& config, const RunningConfig& running);

[[nodiscard]] Json to_json(const config::Shown& shown);

// In milliseconds: a whole number where it is one.
[[nodiscard]] Json ms_json(std::chrono::nanoseconds duration);

// Returns the timeouts in force of a route or an upstream, those that may differ by route: the
// route's wins over the upstream's, else the default.
[[nodiscard]] Json timeouts_json(
    const config::Timeouts& defaults,
    const config::TimeoutOverrides& upstream,
    const config::TimeoutOverrides& route = {});

// As in the YAML: host, one of path, path_exact and path_regex, methods (left out where any will
// do).
[[nodiscard]] Json match_json(const config::Match& match);

// The names of the limits of a route, inline ones included.
[[nodiscard]] Json limit_names_json(const config::Config& config, const config::Route& route);

// The numbers of the limit itself or of an override: limit, and of a token bucket the burst.
[[nodiscard]] Json numbers_json(const config::Limit& limit, limits::Numbers numbers);

// A limit's settings, without its name: limit, per_ms, anchor, key, max_keys, route; only what
// applies to its kind.
[[nodiscard]] Json limit_settings_json(const config::Limit& limit);

} // namespace stint::admin
