// The parts of the store's script, which is one text: what a part declares, those after it use.
#pragma once

#include <string_view>

namespace stint::shared {

[[nodiscard]] std::string_view store_script_registry() noexcept;
[[nodiscard]] std::string_view store_script_sessions() noexcept;
[[nodiscard]] std::string_view store_script_shares() noexcept;

} // namespace stint::shared
