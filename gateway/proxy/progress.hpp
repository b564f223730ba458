// Progress of an exchange: results that its functions tell each other.
#pragma once

#include <cstdint>

namespace stint::proxy {

// The result of a wait for the upstream.
enum class UpstreamAnswer : std::uint8_t { incomplete, retry, failed, ready };

// The next step after the decision on a request.
enum class NextOfRequest : std::uint8_t { forward, reply, wait, wait_cooldown, wait_endpoint };

// The result of choosing an endpoint for a request.
enum class Taken : std::uint8_t { yes, full, none };

} // namespace stint::proxy
