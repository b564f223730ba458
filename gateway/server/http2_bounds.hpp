// The bounds of each HTTP/2 connection. docs/http2.md says what they may cost.
#pragma once

#include "base/time.hpp"
#include "server/http2_session.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace stint::server::http2_bounds {

inline constexpr Http2SessionSettings session{};

// After so many requests the connection is drained, so that a balancer's connections spread anew.
inline constexpr std::uint64_t most_requests = 10'000;

// Streams that a connection may have at once, those included that the client has reset and whose
// handlers have not ended.
inline constexpr std::size_t most_alive = std::size_t{2} * session.max_streams;

// So many glitches close the connection: see Glitches.
inline constexpr std::uint32_t most_glitches = 500;

// A client acknowledges SETTINGS within this time (RFC 9113 section 6.5.3).
inline constexpr Duration settings_timeout = std::chrono::seconds{5};

// Longest wait for the answer to the PING between the two GOAWAYs of a drain.
inline constexpr Duration drain_round_trip = std::chrono::seconds{1};

} // namespace stint::server::http2_bounds
