#include "base/ip_address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <netinet/in.h>

namespace stint {

namespace {

using Bytes = std::array<char, 16>;

constexpr std::size_t wrapped_bits = 96;
constexpr std::array<char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '\xff', '\xff'};
constexpr std::array<char, 12> nat64{0, 0x64, '\xff', '\x9b', 0, 0, 0, 0, 0, 0, 0, 0};

bool wraps_ipv4(std::string_view bytes) noexcept {
    const std::string_view prefix = bytes.substr(0, wrapped_bits / 8);
    return prefix == std::string_view{mapped.data(), mapped.size()} ||
           prefix == std::string_view{nat64.data(), nat64.size()};
}

// Parses an address into `bytes`. Returns the number of bytes, 4 or 16; 0 if the text is no
// address.
std::size_t parse_bytes(std::string_view text, Bytes& bytes) noexcept {
    char terminated[INET6_ADDRSTRLEN] = {};
    if (text.empty() || text.size() >= sizeof terminated ||
        text.find('\0') != std::string_view::npos)
        return 0;
    text.copy(terminated, text.size());
    if (::inet_pton(AF_INET, terminated, bytes.data()) == 1)
        return 4;
    return ::inet_pton(AF_INET6, terminated, bytes.data()) == 1 ? 16 : 0;
}

// Writes a dotted quad. Returns its end. Replaces inet_ntop, which uses sprintf and took 1,750
// instructions for each address of a new connection.
char* write_ipv4(std::string_view bytes, char* to) noexcept {
    constexpr std::ptrdiff_t most_digits = 3;
    for (const char byte : bytes) {
        to = std::to_chars(to, to + most_digits, static_cast<unsigned char>(byte)).ptr;
        *to++ = '.';
    }
    return to - 1;
}

} // namespace

IpAddress IpAddress::from_bytes(std::string_view bytes) noexcept {
    if (bytes.size() == 16 && wraps_ipv4(bytes))
        bytes.remove_prefix(wrapped_bits / 8);
    IpAddress address;
    if (bytes.size() != 4 && bytes.size() != 16)
        return address;
    bytes.copy(address.bytes_.data(), bytes.size());
    address.size_ = static_cast<std::uint8_t>(bytes.size());
    return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) noexcept {
    Bytes bytes;
    const std::size_t size = parse_bytes(text, bytes);
    if (size == 0)
        return std::nullopt;
    return from_bytes({bytes.data(), size});
}

IpAddress IpAddress::network(unsigned prefix) const noexcept {
    IpAddress masked = *this;
    for (unsigned bit = std::min(prefix, bits()) & ~7U; bit < bits(); bit += 8) {
        const unsigned kept = prefix > bit ? prefix - bit : 0; // bits of this byte that are kept
        const auto mask = static_cast<unsigned char>(0xFF00U >> std::min(kept, 8U));
        char& byte = masked.bytes_[bit / 8];
        byte = static_cast<char>(static_cast<unsigned char>(byte) & mask);
    }
    return masked;
}

std::optional<Cidr> Cidr::parse(std::string_view text) noexcept {
    const std::size_t slash = text.find('/');
    Bytes bytes;
    const std::size_t size = parse_bytes(text.substr(0, slash), bytes);
    if (size == 0)
        return std::nullopt;
    std::size_t prefix = size * 8;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
        const bool spelt_well = !digits.empty() && (digits.size() == 1 || digits.front() != '0');
        if (error != std::errc{} || end != digits.data() + digits.size() || !spelt_well ||
            prefix > size * 8)
            return std::nullopt;
    }
    const std::string_view written{bytes.data(), size};
    if (size == 16 && wraps_ipv4(written)) {
        if (prefix < wrapped_bits)
            return std::nullopt;
        prefix -= wrapped_bits;
    }
    return Cidr{IpAddress::from_bytes(written), static_cast<std::uint8_t>(prefix)};
}

bool Cidr::contains(const IpAddress& other) const noexcept {
    return !other.empty() && other.bits() == address.bits() &&
           other.network(prefix) == address.network(prefix);
}

IpText::IpText(const IpAddress& address) noexcept {
    const std::string_view bytes = address.bytes();
    if (address.is_v4())
        size_ = static_cast<std::uint8_t>(write_ipv4(bytes, text_.data()) - text_.data());
    else if (
        !address.empty() &&
        ::inet_ntop(AF_INET6, bytes.data(), text_.data(), INET6_ADDRSTRLEN) != nullptr)
        size_ = static_cast<std::uint8_t>(std::strlen(text_.data()));
}

IpText::IpText(const Cidr& network) noexcept : IpText{network.network()} {
    if (network.prefix >= network.address.bits())
        return;
    text_[size_++] = '/';
    char* const end =
        std::to_chars(text_.data() + size_, text_.data() + text_.size(), network.prefix).ptr;
    size_ = static_cast<std::uint8_t>(end - text_.data());
}

} // namespace stint
