// IP addresses and networks as plain values. Nothing here touches a socket or looks up a name.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stint {

// An IPv4 or IPv6 address, or none. There is one value for each host: an IPv4-mapped IPv6 address
// (::ffff:0:0/96) and a NAT64 address (64:ff9b::/96, RFC 6052 section 2.1) are stored as the IPv4
// address that they contain.
class IpAddress {
  public:
    IpAddress() = default;
    // Makes an address of 4 or 16 bytes in network order. Any other size gives an empty address.
    [[nodiscard]] static IpAddress from_bytes(std::string_view bytes) noexcept;
    // Parses a dotted quad, or an IPv6 address (RFC 4291 section 2.2) without brackets, zone, port
    // or blanks. Returns nothing for any other text.
    [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text) noexcept;

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool is_v4() const noexcept { return size_ == 4; }
    // Returns the size in bits, 32 or 128; 0 for an empty address.
    [[nodiscard]] unsigned bits() const noexcept { return size_ * 8U; }
    // Returns 4 or 16 bytes in network order, or none.
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), size_}; }
    // Returns the address with all but the first `prefix` bits cleared.
    [[nodiscard]] IpAddress network(unsigned prefix) const noexcept;

    friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

  private:
    std::array<char, 16> bytes_{};
    std::uint8_t size_ = 0;
};

// All addresses that begin with the same bits.
struct Cidr {
    IpAddress address;
    std::uint8_t prefix = 0; // number of leading bits

    // Parses "10.0.0.0/8", "2001:db8::/32", or a single address, which is a network of one. The
    // address is kept as written: it may have bits beyond the prefix. A prefix within ::ffff:0:0/96
    // or 64:ff9b::/96 means IPv4 addresses. A shorter prefix that contains these ranges is refused,
    // because IPv4 addresses would not match it.
    [[nodiscard]] static std::optional<Cidr> parse(std::string_view text) noexcept;

    [[nodiscard]] IpAddress network() const noexcept { return address.network(prefix); }
    [[nodiscard]] bool contains(const IpAddress& other) const noexcept;

    friend auto operator<=>(const Cidr&, const Cidr&) = default;
};

// Text of an address or network without allocation.
class IpText {
  public:
    IpText() = default;
    // Writes "192.0.2.1", "2001:db8::1" (RFC 5952), or "" for an empty address.
    explicit IpText(const IpAddress& address) noexcept;
    // Writes the network's address with "/PREFIX", which is left out if the network is a single
    // address.
    explicit IpText(const Cidr& network) noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

  private:
    std::array<char, 50> text_{}; // 45 of the longest IPv6 text, "/128" and a NUL
    std::uint8_t size_ = 0;
};

} // namespace stint
