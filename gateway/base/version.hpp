// The version of this build.
#pragma once

#include <string_view>

namespace stint {

inline constexpr std::string_view version = STINT_VERSION;

} // namespace stint
