#include "limits/registry.hpp"

#include <utility>

namespace stint::limits {

LimitPtr Registry::obtain(const LimitSpec& spec) {
    const std::lock_guard lock{mutex_};
    if (known_.size() >= sweep_from_) { // rare, so that a call costs little on average
        std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
        sweep_from_ = 2 * known_.size() + 16;
    }
    std::weak_ptr<Limit>& known = known_[spec.identity];
    if (LimitPtr alive = known.lock()) {
        alive->set_max_keys(spec.max_keys);
        return alive;
    }
    LimitPtr fresh = std::make_shared<Limit>(spec);
    if (made_)
        made_(*fresh);
    known = fresh;
    return fresh;
}

std::vector<LimitPtr> Registry::alive() const {
    std::vector<LimitPtr> alive;
    const std::lock_guard lock{mutex_};
    for (const auto& [identity, known] : known_)
        if (LimitPtr limit = known.lock())
            alive.push_back(std::move(limit));
    return alive;
}

void Registry::keep(std::vector<LimitPtr> limits) {
    {
        const std::lock_guard lock{mutex_};
        kept_.swap(limits);
    }
    // The previous limits end here, outside the lock: a large table takes a while to free.
}

} // namespace stint::limits
