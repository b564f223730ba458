// The configuration as JSON: in the form of its file, and settings among live state with units in
// their names (`connect_ms`).
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
    config::Workers workers{}; // as configured
    std::optional<config::State> state{};
};

[[nodiscard]] RunningConfig running(const config::Config& at_start);

// Returns the configuration with the values of `running`, which a reload does not change.
[[nodiscard]] config::Config with_running(config::Config in_force, const RunningConfig& running);

// Returns a value in the form of a configuration file; "(hidden)" for a secret.
[[nodiscard]] Json file_json(const config::Shown& shown);

// Returns the configuration as a document that config::load_text() takes: every setting in force,
// with defaults filled in. A value that a section inherits is shown only where it is set: a timeout
// that a route inherits, for example, at its upstream. Paths are absolute. A value of set_headers
// that may be a secret is "(hidden)", which load_text() refuses; files with secrets are paths.
// Equal configurations make equal documents.
[[nodiscard]] Json config_json(const config::Config& config);

// Returns the body of GET /config. running: its values are shown instead of those of `config`.
[[nodiscard]] Json config_json(const config::Config& config, const RunningConfig& running);

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

// Returns the settings of a limit that apply to its kind, such as kind, limit, per_ms, key and
// route, without its name and without the settings of its refusals.
[[nodiscard]] Json limit_settings_json(const config::Limit& limit);

} // namespace stint::admin
