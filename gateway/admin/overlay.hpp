// GET /changes (and /overlay): the changes that operators have made at run time, on top of the
// configuration file.
#pragma once

#include "admin/message.hpp"
#include "base/time.hpp"
#include "config/schema/schema.hpp"
#include "runtime/runtime_overlay.hpp"

namespace stint::admin {

// Returns a change of a limit: kind (override, block, enforce), the names of its target, the value
// if there is one, `since` (RFC 3339), `who` and `why` if they are known, and, if it expires,
// `until` and expires_in_ms. limit: its settings in the file.
[[nodiscard]] Json
change_json(const runtime::LimitChange& change, const config::Limit& limit, const Now& now);

// Returns a list of all changes: those of limits, then drained endpoints, then ended leases and
// cleared counters, the newest last. config: the configuration in force.
[[nodiscard]] Json
overlay_json(const runtime::RuntimeOverlay& overlay, const config::Config& config, const Now& now);

} // namespace stint::admin
