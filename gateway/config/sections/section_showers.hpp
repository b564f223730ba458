// Functions that show sections in GET /config whose output a table alone cannot produce. Used by
// the rows of other tables.
#pragma once

#include "config/fields/field.hpp"

namespace stint::config {

void show_listeners(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_admin(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_permits(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_state(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_client_ip_header(
    const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_trusted_proxies(
    const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_upstreams(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_limits(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_locks(const Field& field, const Config& section, const Config&, Shown::Map& members);
// Shows the names of a route's limits, and its own statuses of their refusals.
void show_route_limits(
    const Field& field, const Route& route, const Config& config, Shown::Map& members);
void show_routes(const Field& field, const Config& section, const Config&, Shown::Map& members);

// Returns the TLS settings; "off" on a plaintext listener. Private keys are shown by file name
// only.
[[nodiscard]] Shown shown_tls(const std::optional<Tls>& tls, const Config& config);
// Returns the TLS settings of an upstream; "off" if no endpoint is https.
[[nodiscard]] Shown shown_upstream_tls(const Upstream& upstream, const Config& config);
[[nodiscard]] Shown shown_cooldown(const std::optional<Cooldown>& cooldown, const Config& config);
[[nodiscard]] Shown shown_retry(const std::optional<Retry>& retry, const Config& config);
[[nodiscard]] Shown shown_endpoint(const Endpoint& endpoint, const Config& config);

// Returns the effective timeouts of a route or an upstream. A route's value has precedence over its
// upstream's, and an upstream's over the default.
[[nodiscard]] Shown::Map shown_timeouts(
    const Timeouts& defaults, const TimeoutOverrides& upstream, const TimeoutOverrides& route = {});

void show_ejection(
    const Field& field, const Upstream& upstream, const Config&, Shown::Map& members);
void show_health(const Field& field, const Upstream& upstream, const Config&, Shown::Map& members);

// Returns the names of a route's limits, inline limits included.
[[nodiscard]] Shown::List shown_limit_names(const Config& config, const Route& route);
// Returns the route's upstream, for its timeouts and cooldown; an empty upstream for a route with
// respond or redirect.
[[nodiscard]] const Upstream& upstream_of(const Config& config, const Route& route);

// Returns the settings of a limit that apply to its kind, without its name and without its refusal
// settings.
[[nodiscard]] Shown::Map shown_limit(const Limit& limit, const Config& config);
// Returns the numbers of a limit or of an override: `limit`, and `burst` of a token bucket.
[[nodiscard]] Shown::Map
shown_numbers(const Limit& limit, std::uint64_t quota, std::uint64_t burst);

// Returns one key source as a text, several as a list.
[[nodiscard]] Shown shown_sources(const std::vector<KeySource>& sources);

} // namespace stint::config
