// Parses addresses of listeners and endpoints in a configuration.
#pragma once

#include "config/schema/schema.hpp"
#include "config/yaml/reader.hpp"

#include <string>
#include <string_view>

namespace stint::config {

// Parses an address to listen on: IPv4:port, [IPv6]:port or unix:/path. Port 0 lets the kernel
// choose.
[[nodiscard]] Parsed<Address> parse_address(std::string_view text);

// Parses an endpoint: IPv4:port, [IPv6]:port or name:port with a port from 1, unix:/path,
// http://HOST (default port 80) or https://HOST (default port 443).
[[nodiscard]] Parsed<Endpoint> parse_endpoint(std::string_view text);

// Returns true if only processes on this machine can reach the address: loopback or a Unix socket.
[[nodiscard]] bool is_local(const Address& address);

// is_ipv4() returns true for an IPv4 address, is_ipv6() for an IPv6 address without brackets,
// is_host_name() for a host name (RFC 1123, and underscores).
[[nodiscard]] bool is_ipv4(std::string_view text);
[[nodiscard]] bool is_ipv6(std::string_view text);
[[nodiscard]] bool is_host_name(std::string_view text);

// The parts of a text such as "host:port", "[IPv6]:port", "host" or "[IPv6]". They are not checked:
// a malformed text gives a host or a port that is not valid.
struct HostPort {
    std::string_view host; // without brackets
    std::string_view port;
    bool bracketed = false;
    bool has_port = false;
};
[[nodiscard]] HostPort split_host_port(std::string_view text);

} // namespace stint::config
