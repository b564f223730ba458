// A store's settings in the terms of its connections.
#pragma once

#include "net/types.hpp"
#include "redis/address_source.hpp"
#include "redis/link.hpp"
#include "redis/sentinel_watch.hpp"
#include "stores/store_settings.hpp"

#include <memory>

namespace stint::stores {

// Returns how to connect to the store's server.
[[nodiscard]] redis::LinkSettings server_link(const StoreSettings& settings);

// Begins to ask the store's Sentinels; null: it has none.
[[nodiscard]] std::unique_ptr<redis::SentinelWatch> watch_sentinels(
    const net::Executor& executor,
    const StoreSettings& settings,
    redis::SentinelWatch::Watcher& watcher);

// Returns where the store's server is. sentinels: as watch_sentinels() returned them; outlives the
// source.
[[nodiscard]] std::unique_ptr<redis::AddressSource> server_addresses(
    const net::Executor& executor, const StoreSettings& settings, redis::SentinelWatch* sentinels);

} // namespace stint::stores
