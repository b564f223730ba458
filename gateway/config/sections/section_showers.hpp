// Functions that show sections in GET /config whose output a table alone cannot produce. Used by
// the rows of other tables.
#pragma once

#include "config/fields/field.hpp"

namespace stint::config {

void show_listeners(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_admin(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_permits(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_state(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_stores(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_shared(const Field& field, const Limit& limit, const Config&, Shown::Map& members);
void show_lock_shared(const Field& field, const Limit& limit, const Config&, Shown::Map& members);
void show_client_ip_header(
    const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_trusted_proxies(
    const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_upstreams(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_limits(const Field& field, const Config& section, const Config&, Shown::Map& members);
void show_locks(const Field& field, const Config& section, const Config&, Shown::Map& members);
// Shows a route's limits: their names (with the route's own refusal status if it has one), inline
// limits and locks.
void show_route_limits(
    const Field& field, const Route& route, const Config& config, Shown::Map& members);
void show_routes(const Field& field, const Config& section, const Config&, Shown::Map& members);

void show_upstream_tls(
    const Field& field, const Upstream& upstream, const Config&, Shown::Map& members);
[[nodiscard]] Shown shown_cooldown(const std::optional<Cooldown>& cooldown, const Config& config);
[[nodiscard]] Shown shown_retry(const std::optional<Retry>& retry, const Config& config);
[[nodiscard]] Shown shown_endpoint(const Endpoint& endpoint, const Config& config);

void show_ejection(
    const Field& field, const Upstream& upstream, const Config&, Shown::Map& members);
void show_health(const Field& field, const Upstream& upstream, const Config&, Shown::Map& members);

// Returns the route's upstream; an empty upstream for a route with respond or redirect.
[[nodiscard]] const Upstream& upstream_of(const Config& config, const Route& route);

// Returns one key source as a text, several as a list.
[[nodiscard]] Shown shown_sources(const std::vector<KeySource>& sources);

} // namespace stint::config
