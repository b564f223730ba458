#include "upstream/ejection.hpp"

#include <algorithm>

namespace stint::upstream {

Ejection
next_ejection(const Ejection& last, const routing::EjectionRules& rules, SteadyTime now) noexcept {
    std::uint32_t most_doublings = last.doublings;
    if (rules.most > Duration::zero() && now > last.until && most_doublings > 0) {
        const auto quiet = static_cast<std::uint64_t>((now - last.until) / rules.most);
        most_doublings -=
            static_cast<std::uint32_t>(std::min<std::uint64_t>(quiet, most_doublings));
    }
    Duration length = std::min(rules.first, rules.most);
    std::uint32_t doublings = 0; // only doublings that make a difference are counted
    for (; doublings < most_doublings && length < rules.most; ++doublings)
        length = length > rules.most / 2 ? rules.most : length * 2;
    return {now + length, length < rules.most ? doublings + 1 : doublings};
}

} // namespace stint::upstream
