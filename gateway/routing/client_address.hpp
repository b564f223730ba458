// The client address of a request, with the values that limits need computed once.
#pragma once

#include "base/hash.hpp"
#include "base/ip_address.hpp"

#include <cstdint>
#include <string_view>

namespace stint::routing {

// Prefix lengths in bits: addresses with the same prefix are one client. An IPv6 client is usually
// given a /64 and may take any address in it (RFC 6177, RFC 8981).
struct AddressPrefixes {
    std::uint8_t ipv4 = 32;
    std::uint8_t ipv6 = 64;

    [[nodiscard]] Cidr network_of(const IpAddress& address) const noexcept {
        const std::uint8_t prefix = address.is_v4() ? ipv4 : ipv6;
        return {address.network(prefix), prefix};
    }
    friend bool operator==(const AddressPrefixes&, const AddressPrefixes&) = default;
};

class ClientAddress {
  public:
    ClientAddress(const IpAddress& address, const KeyHasher& hasher) noexcept
        : address_{address}, text_{address}, network_text_{AddressPrefixes{}.network_of(address)},
          network_hash_{hasher(AddressPrefixes{}.network_of(address).address.bytes())} {}

    // Returns the address; an empty one for the peer of a Unix socket.
    [[nodiscard]] const IpAddress& address() const noexcept { return address_; }
    // Returns the address as text: "192.0.2.1", "2001:db8::1", or "" for the peer of a Unix socket.
    [[nodiscard]] std::string_view text() const noexcept { return text_.view(); }
    // Return the client's network under the default prefixes, as a key: the hash of its bytes, and
    // its text.
    [[nodiscard]] const Hash128& network_hash() const noexcept { return network_hash_; }
    [[nodiscard]] std::string_view network_text() const noexcept { return network_text_.view(); }

  private:
    IpAddress address_;
    IpText text_;
    IpText network_text_;
    Hash128 network_hash_;
};

} // namespace stint::routing
