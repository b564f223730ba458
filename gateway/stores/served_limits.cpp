#include "stores/served_limits.hpp"

#include <algorithm>
#include <utility>

namespace stint::stores {

void ServedLimits::add(
    const limits::LimitPtr& limit, limits::OnStoreFailure on_failure, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    served_[limit.get()] = {limit, on_failure};
    limits::SharePolicy& policy = limit->share_policy();
    const bool fresh = !policy.numbers(nullptr, now).has_value();
    if (fresh)
        policy.reserve_without_share({});
    if (fresh || stood_)
        apply(*limit, on_failure, now);
}

void ServedLimits::apply(
    limits::Limit& limit, limits::OnStoreFailure on_failure, SteadyTime now) const noexcept {
    const bool closes = on_failure == limits::OnStoreFailure::closed && !standing_.answers;
    limits::SharePolicy& policy = limit.share_policy();
    const bool ended = policy.ended(now);
    policy.end_at(closes ? std::min(now, standing_.ends_at) : standing_.ends_at);
    policy.set_asking(standing_.asking);
    if (ended && !policy.ended(now) && policy.leases().begun())
        limit.notify_waiters({});
}

void ServedLimits::stand(const Standing& standing, SteadyTime now) noexcept {
    const std::lock_guard lock{mutex_};
    stood_ = true;
    standing_ = standing;
    for (auto each = served_.begin(); each != served_.end();) {
        const limits::LimitPtr limit = each->second.limit.lock();
        if (limit == nullptr) {
            each = served_.erase(each);
            continue;
        }
        apply(*limit, each->second.on_failure, now);
        ++each;
    }
}

std::vector<limits::LimitPtr> ServedLimits::locks() const {
    std::vector<limits::LimitPtr> found;
    const std::lock_guard lock{mutex_};
    for (const auto& [address, served] : served_)
        if (limits::LimitPtr limit = served.limit.lock();
            limit != nullptr && limit->share_policy().leases().begun())
            found.push_back(std::move(limit));
    return found;
}

std::size_t ServedLimits::size() const noexcept {
    const std::lock_guard lock{mutex_};
    return served_.size();
}

} // namespace stint::stores
