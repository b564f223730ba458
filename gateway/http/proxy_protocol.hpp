// The header that a TCP proxy sends before its client's first byte: the PROXY protocol, versions 1
// and 2 (haproxy.org/download/2.8/doc/proxy-protocol.txt).
#pragma once

#include "base/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::http {

// The PROXY header that a connection begins with.
struct ProxyHeader {
    enum class Status : std::uint8_t {
        incomplete, // the header is valid so far
        malformed,
        // The proxy's own connection (LOCAL), or a client of unknown address (UNKNOWN, UNSPEC):
        // the peer counts as the client.
        no_address,
        // The client's address is `source`, which is empty for a client of a Unix socket.
        address,
    };
    Status status = Status::incomplete;
    std::size_t size = 0; // bytes of the complete header, to be skipped
    IpAddress source;
};

// Bytes of the longest header that this parser accepts; a longer header of version 2 is malformed.
inline constexpr std::size_t longest_proxy_header = 4096;

// Parses the PROXY header. received: all bytes received on the connection. Strict: accepts nothing
// outside the specification, but skips what version 2 says to skip (TLVs).
[[nodiscard]] ProxyHeader parse_proxy_header(std::string_view received) noexcept;

} // namespace stint::http
