// Tells from where a listener can be reached.
#pragma once

#include <cstdint>

namespace stint {

enum class Reach : std::uint8_t { unix_socket, loopback, network };

} // namespace stint
