// Socket addresses: from text, to text, and as the bytes that a limiter key is made of.
#pragma once

#include "base/error.hpp"
#include "base/ip_address.hpp"
#include "net/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::net {

// Returns the socket address of an IPv4 or IPv6 address in text (no brackets, no name) and a port.
[[nodiscard]] Result<Endpoint> ip_endpoint(const std::string& address, std::uint16_t port);

// Returns the socket address of a Unix socket's path. An empty or too long path is an error.
[[nodiscard]] Result<Endpoint> unix_endpoint(const std::string& path);

// Returns the address as "127.0.0.1:80", "[::1]:80" or "unix:/path".
[[nodiscard]] std::string to_text(const Endpoint& endpoint);

[[nodiscard]] bool is_unix(const Endpoint& endpoint) noexcept;

// True if only this machine can reach the address: 127.0.0.0/8, ::1, or a Unix socket.
[[nodiscard]] bool is_loopback(const Endpoint& endpoint) noexcept;

// True if only one of two TCP addresses can be listened on: they have the same port, and the same
// host or one of them is all hosts of its family (0.0.0.0, ::). IPv6 sockets take no IPv4 clients
// here (IPV6_V6ONLY).
[[nodiscard]] bool exclude_each_other(const Endpoint& one, const Endpoint& other) noexcept;

// A peer's address without its port, small enough to keep in every connection. An IPv4-mapped IPv6
// address is its IPv4 address. Empty for a Unix socket.
class PeerAddress {
  public:
    PeerAddress() = default;
    explicit PeerAddress(const Endpoint& peer) noexcept;

    // 4 or 16 bytes in network order, or none.
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), size_}; }
    // "192.0.2.1", "2001:db8::1" or "".
    [[nodiscard]] std::string text() const;

  private:
    std::array<char, 16> bytes_{};
    std::uint8_t size_ = 0;
};

// Returns the peer's address without its port, as PeerAddress has it.
[[nodiscard]] inline IpAddress ip_address_of(const Endpoint& peer) noexcept {
    return IpAddress::from_bytes(PeerAddress{peer}.bytes());
}

} // namespace stint::net
