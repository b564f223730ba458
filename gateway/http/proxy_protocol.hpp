// The header that a proxy of connections sends before the first byte of its client: the PROXY
// protocol, versions 1 and 2 (haproxy.org/download/2.8/doc/proxy-protocol.txt).
#pragma once

#include "base/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::http {

// What a connection begins with.
struct ProxyHeader {
    enum class Status : std::uint8_t {
        incomplete, // and right so far
        malformed,
        // The proxy's own connection (LOCAL), or a client of unknown address (UNKNOWN, UNSPEC).
        no_address,
        // From `source`: none for a client of a Unix socket.
        address,
    };
    Status status = Status::incomplete;
    std::size_t size = 0; // of the complete header, to be skipped
    IpAddress source;
};

// A longer header of version 2 is malformed here.
inline constexpr std::size_t longest_proxy_header = 4096;

// received: all that has come in on the connection. Strict: nothing that the specification does not
// have is taken, but for what version 2 says to skip (TLVs).
[[nodiscard]] ProxyHeader parse_proxy_header(std::string_view received) noexcept;

} // namespace stint::http
