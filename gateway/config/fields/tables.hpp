// The tables of all sections. Each table is defined in the file of config/sections/ that reads its
// section.
#pragma once

#include "config/fields/field.hpp"

namespace stint::config {

[[nodiscard]] Table<Config> config_fields(); // the top level
[[nodiscard]] Table<Config> log_fields();
[[nodiscard]] Table<Listener> listener_fields();
[[nodiscard]] Table<Http2Bounds> http2_fields();
[[nodiscard]] Table<Tls> tls_fields();
[[nodiscard]] Table<Certificate> certificate_fields();
[[nodiscard]] Table<Admin> admin_fields();
[[nodiscard]] Table<Permits> permits_fields();
[[nodiscard]] Table<State> state_fields();
[[nodiscard]] Table<Store> store_fields();
[[nodiscard]] Table<StoreSentinel> sentinel_fields();
[[nodiscard]] Table<SharedLimit> shared_fields();
[[nodiscard]] Table<SharedLimit> lock_shared_fields();
[[nodiscard]] Table<Timeouts> timeout_fields();
[[nodiscard]] Table<TimeoutOverrides> timeout_override_fields();
[[nodiscard]] Table<MinRate> min_rate_fields();
[[nodiscard]] Table<AccessLog> access_log_fields();
[[nodiscard]] Table<Headers> header_fields();
[[nodiscard]] Table<Upstream> upstream_fields();
[[nodiscard]] Table<UpstreamTls> upstream_tls_fields();
[[nodiscard]] Table<Endpoint> endpoint_fields();
[[nodiscard]] Table<Ejection> ejection_fields();
[[nodiscard]] Table<HealthCheck> health_fields();
[[nodiscard]] Table<EndpointQueue> queue_fields();
[[nodiscard]] Table<Retry> retry_fields();
[[nodiscard]] Table<Cooldown> cooldown_fields();
[[nodiscard]] Table<Limit> limit_fields(); // named limits have no `name`, which is the first row
[[nodiscard]] Table<Limit> count_when_fields();
[[nodiscard]] Table<Override> override_fields(); // requests, burst and, for caps, concurrent
[[nodiscard]] Table<OwnBody> body_fields();
[[nodiscard]] Table<Limit> lock_fields();
// For an item {lock: NAME} or {limit: NAME, …} in a route's limits.
[[nodiscard]] Table<Route> reference_fields();
[[nodiscard]] Table<Route> route_fields();
[[nodiscard]] Table<Match> match_fields();
[[nodiscard]] Table<Answer> respond_fields();
[[nodiscard]] Table<Answer> redirect_fields();
[[nodiscard]] Table<PathRewrite> rewrite_fields();
[[nodiscard]] Table<FieldEdits> edit_fields();

} // namespace stint::config
