// A store's settings in the terms of its connections.
#pragma once

#include "net/types.hpp"
#include "redis/address_source.hpp"
#include "redis/link.hpp"
#include "redis/primary_watch.hpp"
#include "stores/store_settings.hpp"

#include <memory>

namespace stint::stores {

// Returns how to connect to the store's server.
[[nodiscard]] redis::LinkSettings server_link(const StoreSettings& settings);

// Begins to ask the store's Sentinels, or its Cluster; null: it has neither.
[[nodiscard]] std::unique_ptr<redis::PrimaryWatch> watch_primary(
    const net::Executor& executor,
    const StoreSettings& settings,
    redis::PrimaryWatch::Watcher& watcher);

// Returns where the store's server is. watch: as watch_primary() returned it; outlives the source.
[[nodiscard]] std::unique_ptr<redis::AddressSource> server_addresses(
    const net::Executor& executor, const StoreSettings& settings, redis::PrimaryWatch* watch);

} // namespace stint::stores
