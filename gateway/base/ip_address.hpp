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
// (::ffff:0:0/96) and one behind NAT64 (64:ff9b::/96, RFC 6052 section 2.1) are the IPv4 address
// in them.
class IpAddress {
  public:
    IpAddress() = default;
    // 4 or 16 bytes in network order; anything else is no address.
    [[nodiscard]] static IpAddress from_bytes(std::string_view bytes) noexcept;
    // A dotted quad or RFC 4291 section 2.2; no brackets, zone, port or blanks.
    [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text) noexcept;

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool is_v4() const noexcept { return size_ == 4; }
    // 32 or 128; 0 without an address.
    [[nodiscard]] unsigned bits() const noexcept { return size_ * 8U; }
    // In network order: 4, 16 or none.
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), size_}; }
    // With all but the first `prefix` bits cleared.
    [[nodiscard]] IpAddress network(unsigned prefix) const noexcept;

    friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

  private:
    std::array<char, 16> bytes_{};
    std::uint8_t size_ = 0;
};

// All addresses that begin with the same bits.
struct Cidr {
    IpAddress address;
    std::uint8_t prefix = 0; // bits

    // "10.0.0.0/8", "2001:db8::/32", or an address alone for itself. The address is kept as it is
    // written: it may have bits beyond the prefix. A prefix within ::ffff:0:0/96 or 64:ff9b::/96 is
    // one of IPv4 addresses; a shorter one that reaches into them is refused, as it would hold
    // none.
    [[nodiscard]] static std::optional<Cidr> parse(std::string_view text) noexcept;

    [[nodiscard]] IpAddress network() const noexcept { return address.network(prefix); }
    [[nodiscard]] bool contains(const IpAddress& other) const noexcept;

    friend auto operator<=>(const Cidr&, const Cidr&) = default;
};

// Text of an address or network without allocation.
class IpText {
  public:
    IpText() = default;
    // "192.0.2.1", "2001:db8::1" (RFC 5952), or "" for none.
    explicit IpText(const IpAddress& address) noexcept;
    // The same with "/PREFIX", which is left out where it is the whole address.
    explicit IpText(const Cidr& network) noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

  private:
    std::array<char, 50> text_{}; // 45 of the longest IPv6 text, "/128" and an end
    std::uint8_t size_ = 0;
};

} // namespace stint
