// POST /config/reload reloads the configuration file; GET /config/last_reload returns the result
// of the last reload.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::admin {

// Returns 200 with the generation now in force and the notes, or 422 with every error of the file.
[[nodiscard]] Response
reload_response(const runtime::ReloadReport& report, std::uint64_t generation);

// Reloads the configuration; returns 503 if the gateway is stopping.
[[nodiscard]] Response reload(runtime::Gateway& gateway);

// Returns the body of GET /config/last_reload. generation, config: of what is in force, `config` as
// the body of GET /config. with_texts: errors have texts of the file, which may be secrets. Without
// it only the places of the mistakes are told.
[[nodiscard]] Json last_reload_json(
    const runtime::LastReload& last,
    std::uint64_t generation,
    std::string_view config,
    bool with_texts);

} // namespace stint::admin
