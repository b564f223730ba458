#include "stores/connecting.hpp"

#include "redis/sentinel_addresses.hpp"
#include "shared/session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::stores {
namespace {

using namespace std::chrono_literals;

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

std::unique_ptr<redis::SentinelWatch> watch_sentinels(
    const net::Executor& executor,
    const StoreSettings& settings,
    redis::SentinelWatch::Watcher& watcher) {
    if (!settings.sentinels)
        return nullptr;
    const StoreSentinels& sentinels = *settings.sentinels;
    const Duration validity = shared::longest_confirmation(settings.time_to_live);
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
            .interval = std::min<Duration>(validity / 4, 1s),
            .validity = validity},
        watcher);
}

std::unique_ptr<redis::AddressSource> server_addresses(
    const net::Executor& executor, const StoreSettings& settings, redis::SentinelWatch* sentinels) {
    if (sentinels != nullptr)
        return std::make_unique<redis::SentinelAddresses>(
            executor, *sentinels, settings.server_name);
    return std::make_unique<redis::HostAddresses>(
        executor, settings.host, settings.port,
        settings.server_name.empty() ? settings.host : settings.server_name);
}

} // namespace stint::stores
