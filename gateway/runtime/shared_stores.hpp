// The stores of a configuration, in which gateways divide limits.
#pragma once

#include "base/error.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"
#include "runtime/tls_objects.hpp"
#include "stores/store.hpp"
#include "stores/store_registry.hpp"

#include <filesystem>
#include <vector>

namespace stint::runtime {

// In the order of Config::stores.
using SharedStores = std::vector<stores::StorePtr>;

// Returns the configuration's stores: those in force whose settings are the same, and others that
// do not run yet. file: the configuration file, for mistakes in the files with secrets.
[[nodiscard]] Result<SharedStores, config::ConfigErrors> stores_of(
    const config::Config& config,
    const TlsObjects& tls,
    const std::filesystem::path& file,
    stores::StoreRegistry& registry);

} // namespace stint::runtime
