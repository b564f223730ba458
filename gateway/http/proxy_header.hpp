// Writes the PROXY header that http/proxy_protocol.hpp reads: the client address of a connection.
#pragma once

#include "base/ip_address.hpp"

#include <cstdint>
#include <string>

namespace stint::http {

struct ProxiedConnection {
    IpAddress source;              // empty: unknown
    std::uint16_t source_port = 0; // 0: unknown
    IpAddress destination;
    std::uint16_t destination_port = 0;
};

// Appends the header of version 1 (a line) or 2. Without a source the header says UNKNOWN or LOCAL.
// Both addresses have the source's family: a destination of the other family is written as
// unspecified (0.0.0.0 or ::).
void append_proxy_header_v1(std::string& out, const ProxiedConnection& connection);
void append_proxy_header_v2(std::string& out, const ProxiedConnection& connection);

} // namespace stint::http
