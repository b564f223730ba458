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
    for (const StorePtr& each : former)
        if (std::ranges::find(stores, each) == stores.end())
            each->stop();
    for (const StorePtr& each : stores)
        if (!each->runs())
            each->start();
}

} // namespace stint::stores
