// Addresses of listeners and endpoints, as a configuration writes them.
#pragma once

#include "config/schema/schema.hpp"
#include "config/yaml/reader.hpp"

#include <string>
#include <string_view>

namespace stint::config {

// Parses an address to listen on: IPv4:port, [IPv6]:port or unix:/path. Port 0 lets the kernel
// choose.
[[nodiscard]] Parsed<Address> parse_address(std::string_view text);

// Parses an endpoint: as above with a port from 1, name:port, http://HOST with port 80 or
// https://HOST with port 443 unless one is named.
[[nodiscard]] Parsed<Endpoint> parse_endpoint(std::string_view text);

// True if only this machine's own processes can reach it.
[[nodiscard]] bool is_local(const Address& address);

// An IPv4 address, an IPv6 address without brackets, or a host name (RFC 1123 and underscores).
[[nodiscard]] bool is_ipv4(std::string_view text);
[[nodiscard]] bool is_ipv6(std::string_view text);
[[nodiscard]] bool is_host_name(std::string_view text);

// "host:port", "[v6]:port", "host" or "[v6]" in its parts.
struct HostPort {
    std::string_view host; // without brackets
    std::string_view port;
    bool bracketed = false;
    bool has_port = false;
};
[[nodiscard]] HostPort split_host_port(std::string_view text);

} // namespace stint::config
