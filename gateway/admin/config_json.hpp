// The configuration as JSON, with the structure of the YAML and its names plus units
// (`timeout_ms`).
#pragma once

#include "admin/message.hpp"
#include "config/fields/shown.hpp"
#include "config/schema/schema.hpp"
#include "limits/decision.hpp"

#include <chrono>
#include <cstddef>
#include <optional>

namespace stint::admin {

// The settings that change only with a restart, with their values at the start.
struct RunningConfig {
    std::optional<config::Admin> admin;
    std::size_t workers = 0;
    bool pin_workers = false;
    std::optional<config::State> state{};
};

// Returns the body of GET /config: all settings with defaults filled in, and the effective timeouts
// of each route. Contains the path of the token file, never the token.
[[nodiscard]] Json config_json(const config::Config& config, const RunningConfig& running);

[[nodiscard]] Json to_json(const config::Shown& shown);

// Returns a duration in milliseconds: an integer if it is whole, else a decimal.
[[nodiscard]] Json ms_json(std::chrono::nanoseconds duration);

// Returns the effective timeouts of a route or an upstream. A route's value has precedence over its
// upstream's, and an upstream's over the default.
[[nodiscard]] Json timeouts_json(
    const config::Timeouts& defaults,
    const config::TimeoutOverrides& upstream,
    const config::TimeoutOverrides& route = {});

// Returns a match as in the YAML: host, one of path, path_exact and path_regex, and methods (absent
// if any method matches).
[[nodiscard]] Json match_json(const config::Match& match);

// Returns the names of a route's limits, inline limits included.
[[nodiscard]] Json limit_names_json(const config::Config& config, const config::Route& route);

// Returns the numbers of a limit or of an override: `limit`, and `burst` of a token bucket.
[[nodiscard]] Json numbers_json(const config::Limit& limit, limits::Numbers numbers);

// Returns the settings of a limit that apply to its kind, without its name: limit, per_ms, anchor,
// key, max_keys, route.
[[nodiscard]] Json limit_settings_json(const config::Limit& limit);

} // namespace stint::admin
