#include "runtime/declared_locks.hpp"

#include "base/lock_names.hpp"
#include "net/clock.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stint::runtime {
namespace {

// Returns what makes the counters of two stores the same: the servers and the counters' names.
std::string place_of(const stores::StoreSettings& settings) {
    std::string place = settings.prefix + "\n" + settings.secret + "\n";
    if (!settings.sentinels && settings.cluster.empty())
        return place + settings.host + "\n" + std::to_string(settings.port);
    place += settings.sentinels ? settings.sentinels->master : "";
    for (const redis::HostPort& each :
         settings.sentinels ? settings.sentinels->servers : settings.cluster)
        place += "\n" + each.text();
    return place;
}

locks::LockStorePtr lock_store_of(const config::Limit& limit, const SharedStores& stores) {
    if (!limit.shared || limit.shared->store >= stores.size())
        return nullptr;
    const stores::StorePtr& store = stores[limit.shared->store];
    return std::make_shared<const locks::LockStore>(locks::LockStore{
        .name = store->settings().name,
        .place = place_of(store->settings()),
        .terms = {.store = store, .timeout = store->settings().timeout}});
}

} // namespace

void declare_locks(
    const config::Config& config,
    const Compiled& compiled,
    const SharedStores& stores,
    locks::LockManager& locks,
    limits::AdmissionQueue& queue) {
    std::vector<locks::LockManager::Declared> declared;
    for (const config::Limit& limit : config.limits)
        if (limit.lock)
            declared.push_back(
                {.name = std::string{lock_name(limit.name)},
                 .max = limit.quota,
                 .max_waiting = limit.lock->max_waiting,
                 .store = lock_store_of(limit, stores)});
    const std::uint64_t others = config.permits ? config.permits->dynamic_locks : 0;
    locks.configure(declared, others, config::LockTerms{}.max_waiting, net::read_clocks());
    // Requests may already be queued for a lock that was undeclared until now.
    for (const ConfiguredLimit& each : compiled.limits)
        if (each.limit->identity().name.starts_with(lock_prefix))
            queue.update_quota(*each.limit, [&](const auto&) { return each.numbers; });
}

} // namespace stint::runtime
