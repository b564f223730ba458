// The handshake of WebSockets (RFC 6455 section 4), for clients of HTTP/2, which do without it (RFC
// 8441 section 5).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// Returns a Sec-WebSocket-Key of 16 bytes, which should be random.
[[nodiscard]] std::string websocket_key(std::span<const std::uint8_t, 16> nonce);

// Returns the Sec-WebSocket-Accept that answers the key: SHA-1, which proves nothing but that its
// writer speaks WebSocket. Empty if libcrypto has no SHA-1.
[[nodiscard]] std::string websocket_accept(std::string_view key);

} // namespace stint::http
