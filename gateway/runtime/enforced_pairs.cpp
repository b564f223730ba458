#include "runtime/enforced_pairs.hpp"

#include "config/values/limit_pairs.hpp"

#include <iterator>

namespace stint::runtime {

std::vector<bool> enforced_limits(const config::Config& config, const LimitChanges& changes) {
    std::vector<bool> enforced;
    for (const config::Limit& limit : config.limits) {
        const LimitChange* const switched =
            changes.find({limit.name, LimitChange::Kind::enforce, {}});
        enforced.push_back(limit.enforce || (switched != nullptr && switched->enforce));
    }
    return enforced;
}

std::vector<EnforcedPair>
enforced_pairs(const config::Config& config, const std::vector<bool>& enforced) {
    std::vector<EnforcedPair> pairs;
    for (std::size_t route = 0; route < config.routes.size(); ++route) {
        const auto& limits = config.routes[route].limits;
        for (auto one = limits.begin(); one != limits.end(); ++one)
            for (auto other = std::next(one); other != limits.end(); ++other)
                if (enforced[*one] && enforced[*other] &&
                    config::queues_into_reserved_slots(config.limits[*one], config.limits[*other]))
                    pairs.push_back({route, *one, *other});
    }
    return pairs;
}

std::string reason_of(const EnforcedPair& pair, const config::Config& config) {
    return "the route " + config.routes[pair.route].name + " has the limits " +
           config.limits[pair.one].name + " and " + config.limits[pair.other].name +
           ": one that lets requests wait cannot be enforced beside one that reserves";
}

} // namespace stint::runtime
