// Computes how long an endpoint that fails is ejected. Uses no clock and no shared state.
#pragma once

#include "base/time.hpp"
#include "routing/balance_spec.hpp"

#include <cstddef>
#include <cstdint>

namespace stint::upstream {

// An endpoint's last ejection.
struct Ejection {
    SteadyTime until{};
    std::uint32_t doublings = 0; // times to double rules.first for an ejection right after this one
};

// Returns the ejection that begins now: rules.first the first time, twice as long each time after
// that, never longer than rules.most. Each period of rules.most since the end of the last ejection
// takes one doubling off again.
[[nodiscard]] Ejection
next_ejection(const Ejection& last, const routing::EjectionRules& rules, SteadyTime now) noexcept;

// True if one more of `endpoints` may be ejected while `out` of them take no requests, for whatever
// reason: failures alone never take out more than half.
[[nodiscard]] constexpr bool may_eject(std::size_t endpoints, std::size_t out) noexcept {
    return 2 * (out + 1) <= endpoints;
}

} // namespace stint::upstream
