// Names of limits that are locks: the lock NAME is the limit `lock:NAME`.
#pragma once

#include <string_view>

namespace stint {

inline constexpr std::string_view lock_prefix = "lock:"; // no other limit's name has a colon

// Returns NAME. limit: `lock:NAME`.
[[nodiscard]] constexpr std::string_view lock_name(std::string_view limit) noexcept {
    return limit.substr(lock_prefix.size());
}

} // namespace stint
