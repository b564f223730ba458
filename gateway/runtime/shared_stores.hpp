// The stores of a configuration, in which gateways divide limits.
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"
#include "runtime/tls_objects.hpp"
#include "stores/store.hpp"
#include "stores/store_registry.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace stint::runtime {

// In the order of Config::stores.
using SharedStores = std::vector<stores::StorePtr>;

// Returns the name in the stores of a gateway that has no `gateway_id`, made of the key that a
// state file keeps: "gateway-" and 32 hexadecimal digits.
[[nodiscard]] std::string made_gateway_id(const KeyHasher& hasher);

// Returns the settings of the configuration's stores. file: the configuration file, for mistakes in
// the files with secrets. hasher: as made_gateway_id().
[[nodiscard]] Result<std::vector<stores::StoreSettings>, config::ConfigErrors> store_settings(
    const config::Config& config,
    const TlsObjects& tls,
    const std::filesystem::path& file,
    const KeyHasher& hasher);

// Returns the configuration's stores: those in force whose settings are the same, and others that
// do not run yet. Otherwise as store_settings().
[[nodiscard]] Result<SharedStores, config::ConfigErrors> stores_of(
    const config::Config& config,
    const TlsObjects& tls,
    const std::filesystem::path& file,
    const KeyHasher& hasher,
    stores::StoreRegistry& registry);

} // namespace stint::runtime
