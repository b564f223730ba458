// POST /config/reload?dry_run=true: what a reload would change.
#pragma once

#include "admin/config_json.hpp"
#include "admin/message.hpp"
#include "runtime/dry_run.hpp"

#include <cstdint>
#include <filesystem>

namespace stint::admin {

// Returns the body of the answer. in_force: the configuration in force, as GET /config shows it.
// file: the configuration file. generation: of what is in force.
[[nodiscard]] Json dry_run_json(
    const runtime::DryRun& run,
    const config::Config& in_force,
    const std::filesystem::path& file,
    std::uint64_t generation);

} // namespace stint::admin
