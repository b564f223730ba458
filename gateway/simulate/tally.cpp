#include "simulate/tally.hpp"

#include <algorithm>

namespace stint::simulate {

std::uint64_t RouteTally::refusals() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& [limit, count] : refused)
        sum += count;
    return sum;
}

void Tally::add(const Verdict& verdict) {
    if (verdict.kind == Verdict::Kind::unrouted) {
        ++unrouted_;
        return;
    }
    for (const std::string& limit : verdict.undecided)
        ++undecided_[limit];
    if (verdict.waited > Duration::zero())
        ++waited_;
    longest_wait_ = std::max(longest_wait_, verdict.waited);
    RouteTally& route = routes_[verdict.route];
    if (verdict.kind == Verdict::Kind::admitted) {
        ++admitted_;
        ++route.admitted;
        return;
    }
    ++refused_;
    ++route.refused[verdict.limit];
    if (verdict.key)
        keys_[verdict.limit].add(hasher_(*verdict.key), *verdict.key);
}

void Difference::add(const Verdict& before, const Verdict& after) {
    if (before.tells_route && before.route != after.route)
        ++other_route;
    const bool was = before.kind == Verdict::Kind::refused;
    const bool is = after.kind == Verdict::Kind::refused;
    if (is && !was) {
        ++total.newly_refused;
        ++places[{after.route, after.limit}].newly_refused;
    }
    if (was && !is) {
        ++total.newly_admitted;
        ++places[{before.tells_route ? before.route : after.route, before.limit}].newly_admitted;
    }
}

} // namespace stint::simulate
