// Tries the stores of a configuration for real.
#pragma once

#include "base/error.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>

namespace stint::runtime {

enum class StoreTrials : std::uint8_t { all_usable, some_unusable, no_such_store };

// Tries the store of that name, or all (empty), and prints a report of each. An error has mistakes
// in files of the configuration. Blocks for some seconds at most for each.
[[nodiscard]] Result<StoreTrials, config::ConfigErrors> try_stores(
    const config::Config& config,
    const std::filesystem::path& file,
    const std::string& name,
    std::ostream& out);

} // namespace stint::runtime
