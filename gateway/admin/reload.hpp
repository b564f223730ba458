// POST /config/reload.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

#include <cstdint>

namespace stint::admin {

// 200 with the generation now in force and the notes, or 422 with every mistake of the file.
[[nodiscard]] Response
reload_response(const runtime::ReloadReport& report, std::uint64_t generation);

// Reloads, unless the gateway is stopping: 503.
[[nodiscard]] Response reload(runtime::Gateway& gateway);

} // namespace stint::admin
