// The PROXY protocol's header: the same verdict however much of it has come in.
//
// Input: the bytes that a connection begins with.
#include "http/proxy_protocol.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::fuzz {

namespace {

using http::ProxyHeader;
using Status = ProxyHeader::Status;

// The address that the header names, read by the C library: "" for none.
std::string source_of(std::string_view header) {
    unsigned char bytes[16];
    if (header.starts_with("PROXY TCP")) {
        const std::string_view rest = header.substr(11);
        const std::string text{rest.substr(0, rest.find(' '))};
        const int family = header[9] == '4' ? AF_INET : AF_INET6;
        require(::inet_pton(family, text.c_str(), bytes) == 1, "the source is an address", header);
        return {reinterpret_cast<const char*>(bytes), family == AF_INET ? 4U : 16U};
    }
    const unsigned family = static_cast<unsigned char>(header[13]) >> 4U;
    return std::string{header.substr(16, family == 1 ? 4 : family == 2 ? 16 : 0)};
}

void check_complete(const ProxyHeader& header, std::string_view received) {
    require(header.size > 0 && header.size <= received.size(), "a header has come in", received);
    require(header.size <= http::longest_proxy_header, "a header has a bound", received);
    const std::string_view text = received.substr(0, header.size);
    const bool first = text.starts_with("PROXY ");
    require(!first || text.size() <= 107, "version 1 has at most 107 bytes", text);
    require(!first || text.find("\r\n") == text.size() - 2, "version 1 is one line", text);
    if (header.status != Status::address)
        return;
    const std::string named = source_of(text);
    // An IPv4 address in IPv6's clothes is the same client.
    IpAddress source = named.empty() ? IpAddress{} : IpAddress::from_bytes(named);
    require(header.source == source, "the source is the one that is named", text);
}

void check(std::string_view received) {
    const ProxyHeader whole = http::parse_proxy_header(received);
    if (whole.status == Status::address || whole.status == Status::no_address)
        check_complete(whole, received);
    Status last = Status::incomplete;
    for (std::size_t size = 0; size <= std::min<std::size_t>(received.size(), 300); ++size) {
        const ProxyHeader part = http::parse_proxy_header(received.substr(0, size));
        if (last != Status::incomplete)
            require(part.status == last, "a verdict stands whatever follows", received);
        if (part.status == Status::address || part.status == Status::no_address)
            require(part.size <= size, "a header ends within what has come in", received);
        last = part.status;
    }
    if (last != Status::incomplete)
        require(whole.status == last, "a verdict stands to the end", received);
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string received{reinterpret_cast<const char*>(bytes), size};
    stint::fuzz::check(received);
    return 0;
}
