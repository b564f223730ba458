// POST /config/reload reloads the configuration file, or says what that would change; GET
// /config/last_reload returns the result of the last reload.
#pragma once

#include "admin/config_json.hpp"
#include "admin/message.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::admin {

// Returns 200 with the generation now in force and the notes, or 422 with every error of the file.
[[nodiscard]] Response
reload_response(const runtime::ReloadReport& report, std::uint64_t generation);

// Reloads the configuration, or with dry_run=true in the query says what that would change. Returns
// 503 if the gateway is stopping. running: the values that GET /config shows. Waits for the workers
// if a dry run tells a forecast.
[[nodiscard]] net::Task<Response>
reload(runtime::Gateway& gateway, RunningConfig running, std::string query);

// Returns the body of GET /config/last_reload. generation, config: of what is in force, `config` as
// the body of GET /config. with_texts: errors have texts of the file, which may be secrets. Without
// it only the places of the mistakes are told.
[[nodiscard]] Json last_reload_json(
    const runtime::LastReload& last,
    std::uint64_t generation,
    std::string_view config,
    bool with_texts);

} // namespace stint::admin
