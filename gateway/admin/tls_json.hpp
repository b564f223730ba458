// TLS settings in GET /config.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"

#include <optional>

namespace stint::admin {

// "off" on a plain listener. Keys are named by their files alone.
[[nodiscard]] Json tls_json(const std::optional<config::Tls>& tls);

// "off" where no endpoint is https.
[[nodiscard]] Json upstream_tls_json(const config::Upstream& upstream);

} // namespace stint::admin
