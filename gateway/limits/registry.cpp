#include "limits/registry.hpp"

#include <memory>
#include <utility>

namespace stint::limits {

LimitPtr Registry::obtain(const LimitSpec& spec) {
    const std::lock_guard lock{mutex_};
    LimitPtr limit = known_.obtain(spec.identity, [&] {
        LimitPtr fresh = std::make_shared<Limit>(spec);
        if (made_)
            made_(*fresh);
        return fresh;
    });
    limit->set_max_keys(spec.max_keys);
    return limit;
}

std::vector<LimitPtr> Registry::alive() const {
    const std::lock_guard lock{mutex_};
    return known_.alive();
}

void Registry::keep(std::vector<LimitPtr> limits) {
    {
        const std::lock_guard lock{mutex_};
        kept_.swap(limits);
    }
    // The previous limits end here, outside the lock: a large table takes a while to free.
}

} // namespace stint::limits
