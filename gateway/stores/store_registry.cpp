#include "stores/store_registry.hpp"

#include <algorithm>
#include <utility>

namespace stint::stores {

StorePtr StoreRegistry::obtain(const StoreSettings& settings) {
    {
        const std::lock_guard lock{mutex_};
        for (const StorePtr& each : kept_)
            if (each->settings() == settings)
                return each;
    }
    return std::make_shared<Store>(settings);
}

void StoreRegistry::keep(std::vector<StorePtr> stores) {
    std::vector<StorePtr> former;
    {
        const std::lock_guard lock{mutex_};
        former = std::exchange(kept_, stores);
    }
    const auto is_in = [](const std::vector<StorePtr>& among) {
        return [&among](const StorePtr& store) {
            return std::ranges::find(among, store) != among.end();
        };
    };
    for (const StorePtr& each : former)
        if (!is_in(stores)(each))
            each->stop();
    for (const StorePtr& each : stores)
        if (!is_in(former)(each))
            each->start();
}

std::vector<StorePtr> StoreRegistry::in_force() const {
    const std::lock_guard lock{mutex_};
    return kept_;
}

} // namespace stint::stores
