// POST /config/reload: reloads the configuration file.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

#include <cstdint>

namespace stint::admin {

// Returns 200 with the generation now in force and the notes, or 422 with every error of the file.
[[nodiscard]] Response
reload_response(const runtime::ReloadReport& report, std::uint64_t generation);

// Reloads the configuration; returns 503 if the gateway is stopping.
[[nodiscard]] Response reload(runtime::Gateway& gateway);

} // namespace stint::admin
