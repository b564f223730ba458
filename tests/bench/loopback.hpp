// Addresses of 127.0.0.0/8, where everything is measured.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>

namespace stint::bench {

// host: 1 for 127.0.0.1, 2 for 127.0.0.2, and so on.
inline sockaddr_in loopback(std::uint16_t port, in_addr_t host = 1) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl((in_addr_t{IN_LOOPBACKNET} << 24) + host);
    return address;
}

} // namespace stint::bench
