// Sections as GET /config shows them, where a table alone does not say it: for rows of other
// tables.
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
void show_routes(const Field& field, const Config& section, const Config&, Shown::Map& members);

// "off" on a plain listener. Keys are named by their files alone.
[[nodiscard]] Shown shown_tls(const std::optional<Tls>& tls, const Config& config);
// "off" where no endpoint is https.
[[nodiscard]] Shown shown_upstream_tls(const Upstream& upstream, const Config& config);
[[nodiscard]] Shown shown_cooldown(const std::optional<Cooldown>& cooldown, const Config& config);
[[nodiscard]] Shown shown_retry(const std::optional<Retry>& retry, const Config& config);
[[nodiscard]] Shown shown_endpoint(const Endpoint& endpoint, const Config& config);

// Returns those timeouts of a route or an upstream that may differ by route. The route's own wins
// over its upstream's, and that over the default.
[[nodiscard]] Shown::Map shown_timeouts(
    const Timeouts& defaults, const TimeoutOverrides& upstream, const TimeoutOverrides& route = {});

void show_ejection(
    const Field& field, const Upstream& upstream, const Config&, Shown::Map& members);
void show_health(const Field& field, const Upstream& upstream, const Config&, Shown::Map& members);

// The names of the limits of a route, inline ones included.
[[nodiscard]] Shown::List shown_limit_names(const Config& config, const Route& route);
// Returns the route's upstream, for its timeouts and cooldown; an empty one for a route that
// answers itself.
[[nodiscard]] const Upstream& upstream_of(const Config& config, const Route& route);

// A limit's settings, without its name and its refusals: only what applies to its kind.
[[nodiscard]] Shown::Map shown_limit(const Limit& limit, const Config& config);
// The numbers of the limit itself or of an override: limit, and of a token bucket the burst.
[[nodiscard]] Shown::Map
shown_numbers(const Limit& limit, std::uint64_t quota, std::uint64_t burst);

// One source as a text, or a list of several.
[[nodiscard]] Shown shown_sources(const std::vector<KeySource>& sources);

} // namespace stint::config
