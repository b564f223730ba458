#include "http/proxy_protocol.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace stint::http {

namespace {

using namespace std::string_view_literals;
using Status = ProxyHeader::Status;

constexpr std::string_view signature_v1 = "PROXY ";
constexpr std::string_view signature_v2 = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::size_t longest_v1 = 107; // bytes, line end included
constexpr std::size_t prefix_v2 = 16;

constexpr ProxyHeader incomplete{};
constexpr Status malformed = Status::malformed;

std::string_view cut_word(std::string_view& line) noexcept {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

bool is_port(std::string_view text) noexcept {
    const bool digits = !text.empty() && text.size() <= 5 && ascii::digit.contains_all(text) &&
                        (text.size() == 1 || text.front() != '0');
    unsigned port = 0;
    std::from_chars(text.data(), text.data() + text.size(), port);
    return digits && port <= 65'535;
}

// Parses an address. Returns nothing if its family is not the one named before it in the header.
std::optional<IpAddress> parse_source(std::string_view text, bool v4) noexcept {
    const bool written_v4 = text.find(':') == std::string_view::npos;
    return written_v4 == v4 ? IpAddress::parse(text) : std::nullopt;
}

// line: the header without its signature and line end.
ProxyHeader read_v1(std::string_view line, std::size_t size) noexcept {
    const std::string_view family = cut_word(line);
    if (family == "UNKNOWN")
        return {Status::no_address, size, {}}; // whatever follows is to be ignored
    const bool v4 = family == "TCP4";
    if (!v4 && family != "TCP6")
        return {malformed, 0, {}};
    const auto source = parse_source(cut_word(line), v4);
    const auto destination = parse_source(cut_word(line), v4);
    const bool source_port = is_port(cut_word(line));
    if (!source || !destination || !source_port || !is_port(line))
        return {malformed, 0, {}};
    return {Status::address, size, *source};
}

ProxyHeader parse_v1(std::string_view received) noexcept {
    const std::string_view line = received.substr(0, longest_v1);
    const std::size_t end = line.find('\n');
    if (end == std::string_view::npos)
        return line.size() < longest_v1 ? incomplete : ProxyHeader{malformed, 0, {}};
    if (line[end - 1] != '\r')
        return {malformed, 0, {}};
    return read_v1(line.substr(signature_v1.size(), end - 1 - signature_v1.size()), end + 1);
}

// addresses: the bytes behind the fixed prefix, TLVs included.
ProxyHeader read_v2(unsigned char family, std::string_view addresses, std::size_t size) noexcept {
    struct Family {
        std::size_t block;  // bytes of both addresses and their ports
        std::size_t source; // bytes of the first address
    };
    constexpr Family inet{12, 4};
    constexpr Family inet6{36, 16};
    constexpr Family unix_socket{216, 0};
    const unsigned transport = family & 0xFU;
    if (family == 0)
        return {Status::no_address, size, {}};
    if (transport > 2 || transport == 0 || family >> 4U == 0 || family >> 4U > 3)
        return {malformed, 0, {}};
    const Family& layout = family >> 4U == 1 ? inet : family >> 4U == 2 ? inet6 : unix_socket;
    if (addresses.size() < layout.block)
        return {malformed, 0, {}};
    return {Status::address, size, IpAddress::from_bytes(addresses.substr(0, layout.source))};
}

ProxyHeader parse_v2(std::string_view received) noexcept {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(received[at]); };
    const std::size_t known = received.size();
    constexpr std::size_t at = signature_v2.size();
    if (known > at && byte(at) != 0x20 && byte(at) != 0x21) // version 2 with LOCAL or PROXY
        return {malformed, 0, {}};
    if (known < prefix_v2)
        return incomplete;
    const std::size_t length = byte(at + 2) * 256U + byte(at + 3);
    const std::size_t size = prefix_v2 + length;
    if (size > longest_proxy_header)
        return {malformed, 0, {}};
    if (known < size)
        return incomplete;
    if (byte(at) == 0x20)
        return {Status::no_address, size, {}};
    return read_v2(byte(at + 1), received.substr(prefix_v2, length), size);
}

} // namespace

ProxyHeader parse_proxy_header(std::string_view received) noexcept {
    const auto begins_as = [&](std::string_view signature) {
        const std::size_t common = std::min(received.size(), signature.size());
        return received.substr(0, common) == signature.substr(0, common);
    };
    if (begins_as(signature_v1))
        return received.size() <= signature_v1.size() ? incomplete : parse_v1(received);
    if (begins_as(signature_v2))
        return received.size() <= signature_v2.size() ? incomplete : parse_v2(received);
    return {malformed, 0, {}};
}

} // namespace stint::http
