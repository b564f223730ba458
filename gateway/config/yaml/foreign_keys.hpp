// Advice on keys that other proxies have and Stint does not.
#pragma once

#include <span>
#include <string_view>

namespace stint::config {

// Returns advice on a key that a map must not have, such as `expected address: 0.0.0.0:8080`; "" if
// there is none. known: the keys that the map may have.
[[nodiscard]] std::string_view
advice_on_key(std::string_view key, std::span<const std::string_view> known);

} // namespace stint::config
