#include "runtime/shared_stores.hpp"

#include "runtime/token_file.hpp"
#include "stores/counter_names.hpp"

#include <string>
#include <utility>

namespace stint::runtime {
namespace {

class Making {
  public:
    Making(
        const config::Config& config,
        const TlsObjects& tls,
        const std::filesystem::path& file,
        const GatewayName& name)
        : config_{config}, tls_{tls}, file_{file}, name_{name} {}

    stores::StoreSettings settings_of(const config::Store& store) {
        stores::StoreSettings settings;
        settings.name = store.name;
        settings.host = store.redis.host;
        settings.port = store.redis.port;
        if (store.sentinel)
            settings.sentinels = sentinels_of(store.name, *store.sentinel);
        for (const config::StoreServer& node : store.cluster)
            settings.cluster.push_back({node.host, node.port});
        settings.tls = tls_.store(store.name);
        if (store.tls)
            settings.server_name = store.tls->server_name;
        settings.user = store.username;
        settings.password = content_of(store.password_file);
        settings.prefix = store.prefix;
        settings.timeout = store.timeout;
        settings.time_to_live = store.session;
        settings.gateway = name_in_stores(config_, name_);
        settings.secret = content_of(store.secret_file);
        settings.assume_noeviction = store.assumes_noeviction;
        return settings;
    }

    config::ConfigErrors mistakes;

  private:
    stores::StoreSentinels
    sentinels_of(const std::string& store, const config::StoreSentinel& sentinel) {
        stores::StoreSentinels made;
        made.master = sentinel.master;
        for (const config::StoreServer& server : sentinel.servers)
            made.servers.push_back({server.host, server.port});
        made.tls = tls_.sentinel(store);
        if (sentinel.tls)
            made.server_name = sentinel.tls->server_name;
        made.user = sentinel.username;
        made.password = content_of(sentinel.password_file);
        return made;
    }

    std::string content_of(const std::string& path) {
        if (path.empty())
            return {};
        auto content = read_token(path);
        if (!content)
            mistakes.push_back({file_.string(), 0, 0, content.error()});
        return content ? std::move(*content) : std::string{};
    }

    const config::Config& config_;
    const TlsObjects& tls_;
    const std::filesystem::path& file_;
    const GatewayName& name_;
};

} // namespace

std::string made_gateway_id(const KeyHasher& hasher) {
    return "gateway-" + stores::digits_of(hasher("gateway_id"));
}

// No gateway_id contains a tilde.
std::string name_in_stores(const config::Config& config, const GatewayName& name) {
    std::string text = config.gateway_id.empty() ? name.made : config.gateway_id;
    return name.upgrades == 0 ? text : text + "~" + std::to_string(name.upgrades);
}

Result<std::vector<stores::StoreSettings>, config::ConfigErrors> store_settings(
    const config::Config& config,
    const TlsObjects& tls,
    const std::filesystem::path& file,
    const GatewayName& name) {
    Making making{config, tls, file, name};
    std::vector<stores::StoreSettings> made;
    for (const config::Store& store : config.stores)
        made.push_back(making.settings_of(store));
    if (!making.mistakes.empty())
        return std::move(making.mistakes);
    return made;
}

Result<SharedStores, config::ConfigErrors> stores_of(
    const config::Config& config,
    const TlsObjects& tls,
    const std::filesystem::path& file,
    const GatewayName& name,
    stores::StoreRegistry& registry) {
    auto settings = store_settings(config, tls, file, name);
    if (!settings)
        return std::move(settings.error());
    SharedStores made;
    for (const stores::StoreSettings& each : *settings)
        made.push_back(registry.obtain(each));
    return made;
}

} // namespace stint::runtime
