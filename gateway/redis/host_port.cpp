#include "redis/host_port.hpp"

namespace stint::redis {

std::string HostPort::text() const {
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

} // namespace stint::redis
