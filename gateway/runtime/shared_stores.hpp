// The stores of a configuration, in which gateways divide limits.
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"
#include "runtime/tls_objects.hpp"
#include "stores/store.hpp"
#include "stores/store_registry.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stint::runtime {

// In the order of Config::stores.
using SharedStores = std::vector<stores::StorePtr>;

// Returns the name in the stores of a gateway that has no `gateway_id`, made of the key that a
// state file keeps: "gateway-" and 32 hexadecimal digits.
[[nodiscard]] std::string made_gateway_id(const KeyHasher& hasher);

// Tells a gateway from others, and a process from the one that it has replaced: both have sessions
// at the stores for a while.
struct GatewayName {
    std::string made; // made_gateway_id(), for a configuration without `gateway_id`
    // Tried since the program was started by other means. The store gives a process a session
    // beside those with lower numbers, and to no process with a lower one or the same.
    std::uint32_t upgrades = 0;
};

// Returns the name in the stores: "edge-1", after one upgrade "edge-1~1".
[[nodiscard]] std::string name_in_stores(const config::Config& config, const GatewayName& name);

// Returns the settings of the configuration's stores. file: the configuration file, for mistakes in
// the files with secrets.
[[nodiscard]] Result<std::vector<stores::StoreSettings>, config::ConfigErrors> store_settings(
    const config::Config& config,
    const TlsObjects& tls,
    const std::filesystem::path& file,
    const GatewayName& name);

// Returns the configuration's stores: those in force whose settings are the same, and others that
// do not run yet. Otherwise as store_settings().
[[nodiscard]] Result<SharedStores, config::ConfigErrors> stores_of(
    const config::Config& config,
    const TlsObjects& tls,
    const std::filesystem::path& file,
    const GatewayName& name,
    stores::StoreRegistry& registry);

} // namespace stint::runtime
