#include "stores/connecting.hpp"

#include "redis/cluster_watch.hpp"
#include "redis/sentinel_watch.hpp"
#include "redis/watched_addresses.hpp"
#include "shared/session.hpp"
#include "stores/counter_names.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::stores {
namespace {

using namespace std::chrono_literals;

redis::PrimaryWatch::Times times_of(const StoreSettings& settings) {
    const Duration validity = shared::longest_confirmation(settings.time_to_live);
    return {.interval = std::min<Duration>(validity / 4, 1s), .validity = validity};
}

std::unique_ptr<redis::PrimaryWatch> watch_sentinels(
    const net::Executor& executor,
    const StoreSettings& settings,
    const StoreSentinels& sentinels,
    redis::PrimaryWatch::Watcher& watcher) {
    auto connection = std::make_shared<redis::ConnectionSettings>();
    connection->login = {.user = sentinels.user, .password = sentinels.password};
    connection->tls = sentinels.tls;
    return std::make_unique<redis::SentinelWatch>(
        executor,
        redis::SentinelWatchSettings{
            .master = sentinels.master,
            .servers = sentinels.servers,
            .server_name = sentinels.server_name,
            .link = {.connection = std::move(connection), .longest_pause = 1s},
            .times = times_of(settings)},
        watcher);
}

std::unique_ptr<redis::PrimaryWatch> watch_cluster(
    const net::Executor& executor,
    const StoreSettings& settings,
    redis::PrimaryWatch::Watcher& watcher) {
    redis::LinkSettings link = server_link(settings);
    link.longest_pause = 1s;
    return std::make_unique<redis::ClusterWatch>(
        executor,
        redis::ClusterWatchSettings{
            .slot = redis::slot_of(CounterNames{settings.prefix, settings.secret}.registry()),
            .nodes = settings.cluster,
            .server_name = settings.server_name,
            .link = std::move(link),
            .times = times_of(settings)},
        watcher);
}

} // namespace

redis::LinkSettings server_link(const StoreSettings& settings) {
    auto connection = std::make_shared<redis::ConnectionSettings>();
    connection->login = {.user = settings.user, .password = settings.password};
    connection->tls = settings.tls;
    connection->reply_timeout = settings.call_timeout();
    // Shares last for two thirds of a session: a server that is back after half of it is found in
    // time.
    return {
        .connection = std::move(connection),
        .longest_pause = std::min<Duration>(settings.time_to_live / 6, 5s)};
}

std::unique_ptr<redis::PrimaryWatch> watch_primary(
    const net::Executor& executor,
    const StoreSettings& settings,
    redis::PrimaryWatch::Watcher& watcher) {
    if (settings.sentinels)
        return watch_sentinels(executor, settings, *settings.sentinels, watcher);
    if (!settings.cluster.empty())
        return watch_cluster(executor, settings, watcher);
    return nullptr;
}

std::unique_ptr<redis::AddressSource> server_addresses(
    const net::Executor& executor, const StoreSettings& settings, redis::PrimaryWatch* watch) {
    if (watch != nullptr)
        return std::make_unique<redis::WatchedAddresses>(executor, *watch, settings.server_name);
    return std::make_unique<redis::HostAddresses>(
        executor, settings.host, settings.port,
        settings.server_name.empty() ? settings.host : settings.server_name);
}

} // namespace stint::stores
