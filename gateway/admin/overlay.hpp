// GET /overlay: the changes that operators have made at run time, on top of the configuration file.
#pragma once

#include "admin/message.hpp"
#include "base/time.hpp"
#include "config/schema/schema.hpp"
#include "runtime/runtime_overlay.hpp"

namespace stint::admin {

// Returns a list of changes: overrides by limit and key, then drained endpoints, then ended leases,
// the newest last. Each entry has a kind, the names of its target, the value if there is one,
// `since` (RFC 3339), and, if it expires, `until` and expires_in_ms. config: the configuration in
// force.
[[nodiscard]] Json
overlay_json(const runtime::RuntimeOverlay& overlay, const config::Config& config, const Now& now);

} // namespace stint::admin
