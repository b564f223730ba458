// Exact products and quotients of durations and counts, in 64 bits where these are enough.
#pragma once

#include <cstdint>

namespace stint::limits {

__extension__ using Wide = unsigned __int128;

struct Quotient {
    std::int64_t whole;
    std::uint64_t rest; // less than the divisor
};

// A quotient is never above this: 36 years in ns, longer than any window.
inline constexpr std::int64_t longest = std::int64_t{1} << 60;

// Returns length * count / by, at most `longest`. Requires: length >= 0, by > 0.
[[nodiscard]] inline Quotient
divide(std::int64_t length, std::uint64_t count, std::uint64_t by) noexcept {
    std::uint64_t product = 0;
    if (!__builtin_mul_overflow(static_cast<std::uint64_t>(length), count, &product)) [[likely]]
        return product / by < static_cast<std::uint64_t>(longest)
                   ? Quotient{static_cast<std::int64_t>(product / by), product % by}
                   : Quotient{longest, 0};
    const Wide wide = static_cast<Wide>(static_cast<std::uint64_t>(length)) * count;
    return wide / by < static_cast<Wide>(longest)
               ? Quotient{static_cast<std::int64_t>(wide / by), static_cast<std::uint64_t>(wide % by)}
               : Quotient{longest, 0};
}

// Returns length * count / by, rounded up. Requires: as divide().
[[nodiscard]] inline std::int64_t
divide_up(std::int64_t length, std::uint64_t count, std::uint64_t by) noexcept {
    const Quotient quotient = divide(length, count, by);
    return quotient.whole + (quotient.rest > 0 ? 1 : 0);
}

} // namespace stint::limits
